/**
 * `npm run slow -- client [--instances N] [--seed S] [--minutes M]`: the client's promises at its own times. A halt
 * over lines that break, with 100 instances; and an hour in which the server is away, with the spool in memory and on
 * disk.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MAX_STALE_MS, memorySpool, type Spool } from "@flyball/client"
import { fileSpool } from "@flyball/client/file-spool"
import { openWorld } from "../../apps/server/src/http/http-world.ts"
import { haltRound } from "../src/client/halt-in-time.ts"
import { awayRound } from "../src/client/server-away.ts"
import { numbersOf } from "./options.ts"

/** The hour passes in so many times less. */
const SPEED = 60

/** Decisions a second, with arguments of so many bytes. */
const LOAD = { perSecond: 1_500, argumentBytes: 300 }

/**
 * On disk each decision waits for the disk, so that fewer fit into the time; the spool is to be full for most of it.
 */
const ON_DISK = { maxBytes: 16 * 1_048_576, maxEntries: 2_000 }

/**
 * Longest delay of the host's event loop at the 99th percentile, and how much it may be over the machine's own where
 * other work runs on it. Unit: milliseconds.
 */
const MOST_P99_MS = 5
const MOST_OVER_IDLE_MS = 1

/** Most memory that an hour without the server may add: the spool's 16 MiB as text, kept as objects. Unit: bytes. */
const MOST_GROWTH = 64 * 1_048_576

/** Runs the proof. True when every promise holds. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { instances = 100, minutes = 60, seed = 1 } = numbersOf(args, ["instances", "minutes", "seed"])
  const folder = mkdtempSync(join(tmpdir(), "flyball-client-"))
  try {
    const inMemory = await away("in memory", minutes, memorySpool())
    const onDisk = await away("on disk", minutes, fileSpool(join(folder, "spool"), ON_DISK))
    return (await haltInTime(instances, seed)) && inMemory && onDisk
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const haltInTime = async (instances: number, seed: number): Promise<boolean> => {
  const world = await openWorld()
  try {
    const times = { maxStaleMs: MAX_STALE_MS, pollMs: 5_000, beforeMs: 60_000 }
    const { acted, after, before, breaks, lastMs } = await haltRound(world, { instances, seed, ...times })
    const holds = lastMs <= MAX_STALE_MS && acted === instances
    console.log(
      `${holds ? "ok  " : "FAIL"} a halt over lines that break: ${instances} instances, ${breaks} breaks; ${before} ` +
        `effects began before the halt and ${after} after it, the last ${Math.round(lastMs)} ms after it ` +
        `(at most ${MAX_STALE_MS})`
    )
    return holds
  } finally {
    await world.close()
  }
}

const away = async (name: string, minutes: number, spool: Spool): Promise<boolean> => {
  const outcome = await awayRound({ awayMs: minutes * 60_000, speed: SPEED, ...LOAD, spool })
  const grown = outcome.heapAfter - outcome.heapBefore
  const isCounted = outcome.lost === outcome.offered - outcome.pending && outcome.lost > 0
  const holds =
    isCounted && outcome.p99Ms < Math.max(MOST_P99_MS, outcome.idleP99Ms + MOST_OVER_IDLE_MS) && grown < MOST_GROWTH
  console.log(
    `${holds ? "ok  " : "FAIL"} the server away for ${minutes} minutes on a clock ${SPEED} times as fast, the spool ` +
      `${name}: ${outcome.offered} decisions, ${outcome.pending} wait, ${outcome.lost} are an unreported gap; spool ` +
      `full for ${Math.round(outcome.fullShare * 100)} % of the time; event loop p99 ` +
      `${outcome.p99Ms.toFixed(2)} ms (${outcome.idleP99Ms.toFixed(2)} ms before), longest ` +
      `${outcome.maxMs.toFixed(1)} ms; heap grew by ${(grown / 1_048_576).toFixed(1)} MiB; ${outcome.requests} requests`
  )
  return holds
}
