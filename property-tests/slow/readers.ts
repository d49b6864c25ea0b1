/**
 * `npm run slow -- readers [--streams N] [--polls N]`: one server with many open readers: streams of the kill state and
 * of reviews, and requests that wait. What each costs in memory, that readers who take nothing cost no more, and that
 * all are let go when they leave or when their key is revoked.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { ReadersReport } from "../src/kill/readers-process.ts"
import { numbersOf } from "./options.ts"

/** Resident memory of a reader, at most. Unit: KiB. */
const MOST_KIB = 128
/** Halts and releases that readers who take nothing are sent. */
const CHANGES = 100
/** How long streams may last after their key is revoked: a check every 5 s, and what 2,000 checks take. */
const MOST_ENDING_MS = 10_000
/** Sockets opened at a time. */
const AT_ONCE = 50

/** Runs the proof. True when every promise holds. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { polls = 500, streams = 1_000 } = numbersOf(args, ["polls", "streams"])
  const folder = mkdtempSync(join(tmpdir(), "flyball-readers-"))
  const child = fork(fileURLToPath(new URL("../src/kill/readers-process.ts", import.meta.url)), [
    join(folder, "readers.db"),
    join(folder, "keys")
  ])
  const ended = once(child, "exit")
  try {
    return await readersOf(child, streams, polls)
  } finally {
    if (child.connected) child.disconnect()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

const readersOf = async (child: ChildProcess, streams: number, polls: number): Promise<boolean> => {
  const next = async (): Promise<ReadersReport> => (await once(child, "message"))[0] as ReadersReport
  const act = (name: "halt" | "release" | "report" | "revoke"): Promise<ReadersReport> => {
    child.send(name)
    return next()
  }
  const { agent, key, port } = await next()
  const of = `target_type=agent&target_id=${agent}`
  const open = async (count: number, path: string, headers = ""): Promise<ReadonlyArray<Socket>> => {
    const sockets: Array<Socket> = []
    for (let from = 0; from < count; from += AT_ONCE)
      sockets.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(AT_ONCE, count - from) }, () =>
            reader(
              port,
              `GET /api/v1/bound/${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n` +
                `authorization: Bearer ${key}\r\n${headers}\r\n`
            )
          )
        ))
      )
    return sockets
  }
  // Compiled once: no part of what a reader costs.
  for (const socket of [...(await open(50, `kill/stream?${of}`)), ...(await open(50, "reviews/stream"))])
    socket.destroy()
  await act("halt")
  await act("release")
  const status = await fetch(`http://127.0.0.1:${port}/api/v1/bound/kill/status?${of}`, {
    headers: { authorization: `Bearer ${key}` }
  })
  await status.text()
  const etag = `if-none-match: ${status.headers.get("etag")}\r\n`
  const results: Array<boolean> = []
  const costs = async (name: string, sockets: ReadonlyArray<Socket>, before: ReadersReport): Promise<ReadersReport> => {
    const after = await act("report")
    const kib = ((after.rssMb - before.rssMb) * 1_024) / sockets.length
    // One that was answered, or refused, is open no more.
    const areOpen = sockets.every((socket) => !socket.destroyed && !socket.readableEnded)
    results.push(
      say(
        kib < MOST_KIB && areOpen,
        `${sockets.length} ${name}: ${kib.toFixed(1)} KiB of resident memory each, ` +
          `${areOpen ? "" : "not all are open; "}` +
          `${(((after.heapMb - before.heapMb) * 1_024) / sockets.length).toFixed(1)} KiB of heap; ` +
          `${Math.round(after.rssMb)} MiB in all`
      )
    )
    return after
  }
  const empty = await act("report")
  const kill = await open(streams, `kill/stream?${of}`)
  const withKill = await costs("streams of the kill state", kill, empty)
  const reviews = await open(streams, "reviews/stream")
  const withReviews = await costs("streams of reviews", reviews, withKill)
  const waiting = await open(polls, `kill/status?${of}&wait_ms=25000`, etag)
  await costs("requests that wait", waiting, withReviews)
  for (const socket of waiting) socket.destroy()

  for (const socket of kill) socket.pause()
  const paused = await act("report")
  for (let count = 0; count < CHANGES; count++) await act(count % 2 === 0 ? "halt" : "release")
  await costs(`readers who take nothing of ${CHANGES} changes`, kill, paused)

  const revokedAt = performance.now()
  const over = Promise.all([...kill, ...reviews].map((socket) => (socket.resume(), once(socket, "close"))))
  await act("revoke")
  await over
  const endedMs = performance.now() - revokedAt
  results.push(
    say(endedMs < MOST_ENDING_MS, `all streams ended ${(endedMs / 1_000).toFixed(1)} s after their key was revoked`)
  )
  const left = await act("report")
  results.push(
    say(
      left.connections <= 2,
      `${left.connections} connections are left; ${Math.round(left.rssMb)} MiB, ${Math.round(empty.rssMb)} before them`
    )
  )
  return results.every((holds) => holds)
}

/** A connection whose first bytes of the answer have come, or whose request waits. */
const reader = async (port: number, request: string): Promise<Socket> => {
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => undefined)
  await once(socket, "connect")
  socket.write(request)
  if (!request.includes("wait_ms")) await once(socket, "data")
  socket.on("data", () => undefined)
  socket.on("end", () => undefined)
  return socket
}

const say = (holds: boolean, text: string): boolean => {
  console.log(`${holds ? "ok  " : "FAIL"} ${text}`)
  return holds
}
