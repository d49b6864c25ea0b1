#!/usr/bin/env node
/** The command `flyball-mcp-proxy`. */
import type { AddressInfo } from "node:net"
import { constants } from "node:os"
import { passesProxy } from "../json-rpc.ts"
import { governHttp } from "./http.ts"
import { openSession } from "./session.ts"
import { readSettings, usage } from "./settings.ts"
import { governChild } from "./stdio.ts"

/** Status of a command line that cannot be read, as sysexits.h has it. */
const USAGE = 64

/** Status where the address cannot be listened at. */
const UNAVAILABLE = 69

const log = (line: string): void => void process.stderr.write(`flyball-mcp-proxy: ${line}\n`)

const main = async (): Promise<void> => {
  const settings = readSettings(process.argv.slice(2), process.env)
  if (settings === null) return void process.stdout.write(usage)
  if (typeof settings === "string") {
    // Without settings nothing is governed, and so nothing is started.
    log(`${settings}\n\n${usage}`)
    process.exitCode = USAGE
    return
  }
  const session = openSession(settings, log)
  const { target } = settings
  const passes = passesProxy(settings.pass)
  if (target.kind === "http") {
    const server = governHttp({ upstream: target.upstream, session, passes, log })
    server.once("error", (cause) => {
      log(cause.message)
      process.exit(UNAVAILABLE)
    })
    server.listen(target.port, target.host, () => {
      const { address, family, port } = server.address() as AddressInfo
      const host = family === "IPv6" ? `[${address}]` : address
      log(`listens at http://${host}:${port}${new URL(target.upstream).pathname}`)
    })
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => {
        server.close()
        server.closeAllConnections()
        void session.close().then(() => process.exit(0))
      })
    return
  }
  const ended = await governChild({
    command: target.command,
    args: target.args,
    env: process.env,
    session,
    passes,
    input: process.stdin,
    output: process.stdout,
    log,
    onSignals: (forward) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => forward(signal))
    }
  })
  process.exit("code" in ended ? ended.code : 128 + constants.signals[ended.signal])
}

main().catch((cause: unknown) => {
  log(cause instanceof Error ? cause.message : String(cause))
  process.exit(70)
})
