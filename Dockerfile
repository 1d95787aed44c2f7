# docker build -t bucketproof . && docker run --rm bucketproof list scenarios
#
# A Redis on the host: docker run --rm --network host bucketproof run --redis redis://127.0.0.1:6379
# The image holds the harness only: no redis-server (--redis process) and no
# interpreter for limiters that are programs (exec).

FROM golang:1.26-alpine AS build
RUN apk add --no-cache ca-certificates
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags='-s -w' -o /image/harness ./cmd/harness
RUN mkdir -p /image/etc/ssl/certs /image/tmp /data/out && chmod 1777 /image/tmp \
    && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/

FROM scratch
COPY --from=build /image/ /
COPY --from=build --chown=65532:65532 /data/ /data/
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/harness"]
CMD ["run"]
