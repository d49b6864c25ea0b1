/** Compiles the program of `record-code.ts`, once for all threads. */
import { nodeCrypto } from "./crypto.ts"
import { recordProgram } from "./record-code.ts"
import { LEAVES } from "./record-memory.ts"
import type { NodeExports } from "./sha256-lanes.ts"

let made: WebAssembly.Module | null | undefined

/** The program; null where WebAssembly or its 128-bit words are missing, or where it does not hash as OpenSSL does. */
export const recordModule = (): WebAssembly.Module | null => {
  if (made === undefined) {
    try {
      const module = new WebAssembly.Module(recordProgram())
      made = hashesNodes(module) ? module : null
    } catch {
      made = null
    }
  }
  return made
}

/** Hashes some nodes where a run's are hashed, and compares. */
const hashesNodes = (module: WebAssembly.Module): boolean => {
  const { memory, nodes } = new WebAssembly.Instance(module).exports as unknown as NodeExports
  const count = 9
  const pairs = new Uint8Array(memory.buffer, LEAVES, 64 * count)
  for (let i = 0; i < pairs.length; i++) pairs[i] = (i * 37) % 251
  const theirs = new Uint8Array(32 * count)
  for (let i = 0; i < count; i++)
    theirs.set(
      nodeCrypto.nodeHash(pairs.subarray(64 * i, 64 * i + 32), pairs.subarray(64 * i + 32, 64 * i + 64)),
      32 * i
    )
  nodes(LEAVES - 1, LEAVES, Math.ceil(count / 4))
  return Buffer.compare(pairs.subarray(0, theirs.length), theirs) === 0
}
