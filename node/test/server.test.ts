/** What only a socket shows. */

import assert from "node:assert/strict";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { build } from "./helper.ts";

const SLOW = "POST /work?delay_ms=50 HTTP/1.1\r\nHost: app\r\nContent-Length: 3\r\n\r\n[1]";
const BROKEN_BODY = "POST /work HTTP/1.1\r\nHost: app\r\nTransfer-Encoding: chunked\r\n\r\nfive\r\n";

test("a refusal waits for the answers before it", async (t) => {
  const app = await build(t);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  for (const [refused, status] of [
    ["nonsense\r\n\r\n", "400"],
    [BROKEN_BODY, "400"],
    [`GET / HTTP/1.1\r\nHost: app\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, "431"],
  ] as const) {
    for (const before of [0, 1, 3]) {
      const socket = connect(port, "127.0.0.1");
      socket.write(SLOW.repeat(before) + refused);
      const answers = [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code);
      assert.deepEqual(
        answers,
        [...Array<string>(before).fill("200"), status],
        `${refused.slice(0, 20)} ${before}`,
      );
    }
  }
});
