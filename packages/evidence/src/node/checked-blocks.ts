/** Cuts a pack into blocks of whole lines and has them checked in several threads, while the reader takes them in order. */
import { setImmediate as nextTurn } from "node:timers/promises"
import { RunChecker } from "../verify/record-run.ts"
import type { CheckedBlock } from "../verify/verify-pack.ts"
import type { CheckThreads } from "./check-threads.ts"
import { hashLeaves, hashNodes } from "./hash-batches.ts"

/** Bytes of a block: large enough that handing it over costs little, small enough to stay in the cache. */
export const BLOCK_BYTES = 512 * 1024
/** Blocks kept beside those that the threads have: what this thread checks while it waits for theirs. */
const OWN_BLOCKS = 8

type Block = Uint8Array<ArrayBuffer>

/** A block on its way to the reader: `bytes` alone while nobody has it, then `answer` while a thread does, then `checked`. */
interface Place {
  readonly bytes: Block
  answer: Promise<void> | null
  checked: CheckedBlock | null
}

/**
 * The content of `chunks` in order, in blocks, most of them with the run that was found at their beginning. Threads are given blocks before
 * anything else is done; this one checks blocks only while they have enough, so that nobody waits. A block is valid until the next one is asked for.
 *
 * A fault of `chunks` comes after all bytes before it, as it would without threads.
 */
export async function* checkedBlocks(chunks: AsyncIterable<Uint8Array>, threads: CheckThreads, { blockBytes, keepParts }: { readonly blockBytes: number; readonly keepParts: boolean }): AsyncGenerator<CheckedBlock> {
  const spare: Array<ArrayBuffer> = []
  const places: Array<Place> = []
  const blocks = lineBlocks(chunks, () => new Uint8Array(spare.pop() ?? new ArrayBuffer(blockBytes)))
  const checker = new RunChecker({ leafHashes: hashLeaves, nodeHashes: hashNodes })
  let end: { readonly fault: unknown } | null = null
  try {
    for (;;) {
      while (end === null && places.length < threads.room + OWN_BLOCKS) {
        const next = await settled(blocks.next())
        if (!next.ok) end = { fault: next.cause }
        else if (next.value.done === true) end = { fault: null }
        else places.push({ bytes: next.value.value, answer: null, checked: null })
      }
      for (const place of places) if (place.answer === null && place.checked === null && !handOver(place)) break
      const first = places[0]
      if (first === undefined) break
      const own = places.findLast((place) => place.answer === null && place.checked === null)
      if (first.checked !== null || own === first) {
        const block = first.checked ?? { bytes: first.bytes, run: null }
        yield block
        places.shift()
        spare.push(block.bytes.buffer as ArrayBuffer)
      } else if (own === undefined) {
        await first.answer
        continue
      } else own.checked = { bytes: own.bytes, run: checker.check(own.bytes, 0, own.bytes.length, keepParts) }
      // What other threads answered comes in between two turns.
      await nextTurn()
    }
    if (end!.fault !== null) throw end!.fault
  } finally {
    await blocks.return()
  }

  function handOver(place: Place): boolean {
    const answer = threads.check({ bytes: place.bytes, keepParts })
    if (answer === null) return false
    place.answer = answer.then((checked) => {
      place.checked = checked
    })
    // It is awaited in its turn.
    place.answer.catch(() => undefined)
    return true
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
