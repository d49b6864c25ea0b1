/** Cuts a pack into blocks of whole lines and has threads look at them, while the reader takes them in order. */
import type { CheckedBlock } from "../verify/verify-pack.ts"
import type { CheckThreads } from "./check-threads.ts"

/** Bytes of a block: large enough that handing it over costs little, small enough to stay in the cache. */
export const BLOCK_BYTES = 512 * 1024
/** Blocks that the reader takes for itself while all threads are busy. */
const OWN_BLOCKS = 2

type Block = Uint8Array<ArrayBuffer>

/**
 * The content of `chunks` in order, in blocks, some of them with the run that a thread found at their beginning. What no thread has room for
 * goes to the reader as it is. A block is valid until the next one is asked for.
 *
 * A fault of `chunks` comes after all bytes before it, as it would without threads.
 */
export async function* checkedBlocks(chunks: AsyncIterable<Uint8Array>, threads: CheckThreads, blockBytes: number): AsyncGenerator<CheckedBlock> {
  const spare: Array<ArrayBuffer> = []
  const waiting: Array<CheckedBlock | Promise<CheckedBlock>> = []
  const blocks = lineBlocks(chunks, () => new Uint8Array(spare.pop() ?? new ArrayBuffer(blockBytes)))
  try {
    for (;;) {
      const next = await settled(blocks.next())
      if (next.ok && next.value.done !== true) waiting.push(threads.check(next.value.value) ?? { bytes: next.value.value, run: null })
      const left = next.ok && next.value.done !== true ? threads.room + OWN_BLOCKS : 0
      while (waiting.length > left) {
        const block = await waiting.shift()!
        yield block
        spare.push(block.bytes.buffer as ArrayBuffer)
      }
      if (!next.ok) throw next.cause
      if (next.value.done === true) return
    }
  } finally {
    await blocks.return()
  }
}

/** Blocks that end with a line, where a line ends in them at all. */
async function* lineBlocks(chunks: AsyncIterable<Uint8Array>, make: () => Block): AsyncGenerator<Block, void> {
  let block = make()
  let used = 0
  let fault: { readonly cause: unknown } | null = null
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length;) {
        const taken = Math.min(chunk.length - at, block.length - used)
        block.set(chunk.subarray(at, at + taken), used)
        used += taken
        at += taken
        if (used < block.length) break
        const full = block
        const end = full.lastIndexOf(NEWLINE) + 1 || full.length
        block = make()
        block.set(full.subarray(end))
        used = full.length - end
        yield full.subarray(0, end)
      }
    }
  } catch (cause) {
    fault = { cause }
  }
  if (used > 0) yield block.subarray(0, used)
  if (fault !== null) throw fault.cause
}

type Settled<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly cause: unknown }

const settled = async <A>(promise: Promise<A>): Promise<Settled<A>> => {
  try {
    return { ok: true, value: await promise }
  } catch (cause) {
    return { ok: false, cause }
  }
}

const NEWLINE = 0x0a
