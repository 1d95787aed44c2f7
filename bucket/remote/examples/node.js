// A limiter for `harness run --limiter node.yaml`: the script beside it, sent to
// Redis over a plain socket, without packages. Questions go out as they come in,
// many at once; Redis answers in order, so the first that waits is the one meant.
'use strict';
const fs = require('fs');
const net = require('net');
const readline = require('readline');

const { RATE, CAPACITY, REDIS_URL } = process.env;
const redis = new URL(REDIS_URL);
const script = fs.readFileSync('bucket.lua', 'utf8');
const socket = net.connect(Number(redis.port || 6379), redis.hostname);
socket.setNoDelay(true);
socket.setEncoding('utf8');

const waiting = []; // one function for each reply to come
function send(words, replied) {
  const part = (w) => `$${Buffer.byteLength(String(w))}\r\n${w}\r\n`;
  waiting.push(replied);
  socket.write(`*${words.length}\r\n${words.map(part).join('')}`);
}

let rest = '';
socket.on('data', (text) => {
  const lines = (rest + text).split('\r\n'); // a number, an error and OK are a line each
  rest = lines.pop();
  for (const line of lines) waiting.shift()(line);
});
socket.on('error', (error) => { throw error; });

function must(line) { if (!line.startsWith('+')) throw new Error(line); }
if (redis.password) {
  send(['AUTH', ...(redis.username ? [redis.username] : []), redis.password].map(decodeURIComponent), must);
}
if (redis.pathname.length > 1) send(['SELECT', redis.pathname.slice(1)], must);

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, key, cost, now_ms: now } = JSON.parse(line);
  send(['EVAL', script, 1, `rl:node:${key}`, RATE, CAPACITY, now, cost], (reply) => {
    const answer = reply.startsWith(':') ? { id, allowed: reply === ':1' } : { id, error: reply };
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  });
}).on('close', () => socket.end());
