"""A limiter for `harness run --limiter python.yaml`: the script beside it, run
through the redis client (Debian: python3-redis). One JSON object a line comes in,
and one goes out for each; the end of the input ends it."""

import json
import os
import sys

import redis

rate, capacity = os.environ["RATE"], os.environ["CAPACITY"]
client = redis.Redis.from_url(os.environ["REDIS_URL"])
with open("bucket.lua") as script:
    bucket = client.register_script(script.read())

for line in sys.stdin:
    ask = json.loads(line)
    answer = {"id": ask["id"]}
    try:
        granted = bucket(keys=["rl:python:" + ask["key"]], args=[rate, capacity, ask["now_ms"], ask["cost"]])
        answer["allowed"] = granted == 1
    except redis.RedisError as error:
        answer["error"] = str(error)  # the outcome is unknown, which is no denial
    print(json.dumps(answer), flush=True)
