import { assert, describe, it } from "vitest"
import { isLoopback } from "./loopback.ts"

describe("loopback addresses", () => {
  it.each(["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost"])("takes %s", (host) =>
    assert.isTrue(isLoopback(host))
  )
  it.each(["0.0.0.0", "::", "10.0.0.1", "localhost.example", "example.org", "", "127.0.0.1.example", "2130706433"])(
    "refuses %s",
    (host) => assert.isFalse(isLoopback(host))
  )
})
