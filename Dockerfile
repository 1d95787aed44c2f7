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
RUN CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags='-s -w' -o /root-of-image/harness ./cmd/harness
RUN cd /root-of-image && mkdir -p etc/ssl/certs tmp work/out && chmod 1777 tmp \
    && cp /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/ && chown -R 65532:65532 work

FROM scratch
COPY --from=build /root-of-image/ /
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/harness"]
CMD ["run"]
