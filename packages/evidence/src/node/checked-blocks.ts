/**
 * Cuts a pack into blocks of whole lines and has them checked in several threads, while the reader takes them in order.
 */
import { setImmediate as nextTurn } from "node:timers/promises"
import type { CheckedBlock } from "../verify/verify-pack.ts"
import { BlockChecker, blockBuffer } from "./block-checker.ts"
import type { CheckThreads } from "./check-threads.ts"
import type { Filling } from "./filling.ts"
import { recordModule } from "./record-module.ts"
import { RunFinder } from "./run-finder.ts"

/** Bytes of a block: large enough that handing it over costs little. */
export const BLOCK_BYTES = 1024 * 1024
/** Blocks kept beside those that the threads have: what this thread checks while it waits for theirs. */
const OWN_BLOCKS = 3

type Block = Uint8Array<ArrayBuffer>

/**
 * A block on its way to the reader: `bytes` alone while nobody has it, then `answer` while a thread does, then
 * `checked`.
 */
interface Place {
  readonly bytes: Block
  answer: Promise<void> | null
  checked: CheckedBlock | null
}

/**
 * The content of a pack in order, in blocks, with the runs that were found in each. Threads are given blocks before
 * anything else is done; this one checks blocks only while they have enough, so that nobody waits. A block is valid
 * until the next one is asked for.
 *
 * A fault of the content comes after all bytes before it, as it would without threads.
 */
export async function* checkedBlocks(
  content: Filling,
  threads: CheckThreads,
  { blockBytes, keepParts }: { readonly blockBytes: number; readonly keepParts: boolean }
): AsyncGenerator<CheckedBlock> {
  const spare: Array<ArrayBuffer> = []
  const places: Array<Place> = []
  const blocks = lineBlocks(content, () => new Uint8Array(spare.pop() ?? blockBuffer(blockBytes), 0, blockBytes))
  const checker = new BlockChecker(recordModule())
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
        const block = first.checked ?? { bytes: first.bytes, ...checker.check(first.bytes, keepParts) }
        yield block
        places.shift()
        spare.push(block.bytes.buffer as ArrayBuffer)
      } else if (own === undefined) {
        await first.answer
        continue
      } else own.checked = { bytes: own.bytes, ...checker.check(own.bytes, keepParts) }
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

/**
 * The content of a pack in order, in blocks, with what runs of records were found in each, all on this thread. A block
 * is valid until the next one is asked for.
 */
export async function* blocksInTurn(
  content: Filling,
  program: WebAssembly.Module,
  { blockBytes, keepParts }: { readonly blockBytes: number; readonly keepParts: boolean }
): AsyncGenerator<CheckedBlock> {
  const finder = new RunFinder(program)
  const rooms = finder.rooms(2, blockBytes)
  let made = 0
  for await (const bytes of lineBlocks(content, () => rooms[made++ % 2]!)) {
    yield { bytes, run: null, runs: bytes[0] === LETTER_D ? [] : finder.find(bytes, keepParts) }
    // Others have their turn: timers, signals.
    await nextTurn()
  }
}

/** Blocks that end with a line, where a line ends in them at all. */
async function* lineBlocks(content: Filling, make: () => Block): AsyncGenerator<Block, void> {
  let block = make()
  let used = 0
  let fault: { readonly cause: unknown } | null = null
  try {
    for (let filled = 1; filled > 0;) {
      try {
        filled = await content.fill(block.subarray(used))
      } catch (cause) {
        fault = { cause }
        break
      }
      used += filled
      if (used < block.length) continue
      const full = block
      const end = full.lastIndexOf(NEWLINE) + 1 || full.length
      block = make()
      block.set(full.subarray(end))
      used = full.length - end
      yield full.subarray(0, end)
    }
    if (used > 0) yield block.subarray(0, used)
    if (fault !== null) throw fault.cause
  } finally {
    await content.close()
  }
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
const LETTER_D = 0x44
