/**
 * A checking thread: takes blocks of whole lines, answers what runs of good records are in each, or what run of D lines
 * it begins with. It decides nothing, and loads little: its start is part of every check.
 */
import { parentPort, workerData } from "node:worker_threads"
import { BlockChecker } from "./block-checker.ts"
import type { BlockToCheck, CheckingThreadData } from "./check-threads.ts"

const port = parentPort!
const checker = new BlockChecker((workerData as CheckingThreadData).program)

port.on("message", ({ bytes, keepParts }: BlockToCheck) => {
  port.postMessage({ bytes, ...checker.check(bytes, keepParts) }, [bytes.buffer])
})
port.postMessage("ready")
