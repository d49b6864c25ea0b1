/** Recognises addresses that only this host reaches. Spec: api.md, "Who may call". */
import { BlockList, isIP } from "node:net"

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

/** True for 127.0.0.0/8, ::1 and `localhost`. Any other name counts as reachable from outside. */
export const isLoopback = (host: string): boolean => {
  const address = host.replace(/^\[|\]$/g, "")
  const family = isIP(address)
  return family === 0 ? address === "localhost" : loopback.check(address, family === 4 ? "ipv4" : "ipv6")
}
