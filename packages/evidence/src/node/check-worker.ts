/** A checking thread: takes blocks of whole lines, answers what run of good records each begins with. It decides nothing. */
import { parentPort } from "node:worker_threads"
import { RunChecker } from "../verify/record-run.ts"
import { nodeCrypto } from "./crypto.ts"

const port = parentPort!
const checker = new RunChecker(nodeCrypto)

port.on("message", (bytes: Uint8Array<ArrayBuffer>) => {
  const run = checker.check(bytes, 0, bytes.length)
  port.postMessage({ bytes, run }, [bytes.buffer])
})
port.postMessage("ready")
