/**
 * SHA-256 of many tree nodes, four side by side in the lanes of WebAssembly's 128-bit words.
 *
 * Why: a call of OpenSSL through Node costs some 330 ns before it hashes anything, and a node is only 65 bytes. Side by
 * side a node takes
 * 200 ns instead of 600, a fifth of a whole check. What follows is FIPS 180-4 written down once more; it is compared
 * with OpenSSL
 * before it is used, and nothing depends on its being there.
 */
import type { Code, WasmFunction } from "./wasm-code.ts"
import {
  add,
  addI32,
  and,
  call,
  countDown,
  get,
  i32,
  load,
  loadLane,
  loadSplat,
  moduleOf,
  or,
  set,
  shiftLeft,
  shiftRight,
  splat,
  store,
  storeLane,
  swapBytes,
  xor
} from "./wasm-code.ts"

/**
 * Hashes `count` nodes: their children stand in pairs of 64 bytes in `pairs`, their hashes go to `out`, which may be
 * `pairs`.
 */
export type NodeHashes = (pairs: Uint8Array, count: number, out: Uint8Array) => void

/**
 * Where things lie in the module's memory: the 64 constants, the 16 words of a block, the 8 words of state; then what
 * comes in and goes out.
 */
const CONSTANTS = 0,
  WORDS = 256,
  STATE = 512
const PAIRS = 1024,
  NODES = 1024,
  HASHES = PAIRS + 64 * NODES,
  PAGES = 2
const LANES = 4
const zero = i32(0)

/**
 * The first 32 bits behind the point of the square (2) or cube (3) root of a prime. Spec: FIPS 180-4 sections 4.2.2 and
 * 5.3.3.
 */
const rootOf = (prime: number, degree: 2 | 3): number => {
  const power = BigInt(prime) << BigInt(32 * degree)
  let root = 0n
  for (let step = 1n << 36n; step > 0n; step >>= 1n) if ((root + step) ** BigInt(degree) <= power) root += step
  return Number(root & 0xffffffffn)
}

const primes: ReadonlyArray<number> = [
  2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
  113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223, 227, 229, 233, 239,
  241, 251, 257, 263, 269, 271, 277, 281, 283, 293, 307, 311
]

const right = (word: Code, bits: number): Code => [word, shiftRight(bits)]
const turn = (word: Code, bits: number): Code => [right(word, bits), word, shiftLeft(32 - bits), or]
const turns = (word: Code, a: number, b: number, c: number): Code => [
  turn(word, a),
  turn(word, b),
  xor,
  turn(word, c),
  xor
]
const halfTurns = (word: Code, a: number, b: number, c: number): Code => [
  turn(word, a),
  turn(word, b),
  xor,
  right(word, c),
  xor
]

/** One block in each lane, from WORDS into STATE. Spec: FIPS 180-4 section 6.2.2. */
const compress = (): Code => {
  const word = (round: number): number => 8 + (round & 15)
  const T = 24
  /** a xor b of this round is b xor c of the next: majority(a, b, c) = b xor (both and). */
  let [ab, bc] = [25, 26]
  let state: ReadonlyArray<number> = [0, 1, 2, 3, 4, 5, 6, 7]
  const code: Array<Code> = [
    state.map((local) => [zero, load(STATE + 16 * local), set(local)]),
    Array.from({ length: 16 }, (_, i) => [zero, load(WORDS + 16 * i), set(word(i))]),
    [get(1), get(2), xor, set(bc)]
  ]
  for (let round = 0; round < 64; round++) {
    const w = get(word(round))
    if (round >= 16) {
      code.push(
        w,
        get(word(round - 7)),
        add,
        halfTurns(get(word(round - 15)), 7, 18, 3),
        add,
        halfTurns(get(word(round - 2)), 17, 19, 10),
        add,
        set(word(round))
      )
    }
    const [a, b, , d, e, f, g, h] = state.map(get) as unknown as readonly [
      Code,
      Code,
      Code,
      Code,
      Code,
      Code,
      Code,
      Code
    ]
    const [, , , dPlace, , , , hPlace] = state as unknown as readonly [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number
    ]
    code.push(
      h,
      zero,
      loadSplat(CONSTANTS + 4 * round),
      add,
      w,
      add,
      turns(e, 6, 11, 25),
      add,
      g,
      e,
      f,
      g,
      xor,
      and,
      xor,
      add,
      set(T)
    )
    code.push(d, get(T), add, set(dPlace))
    code.push(a, b, xor, set(ab))
    code.push(get(T), turns(a, 2, 13, 22), add, b, get(ab), get(bc), and, xor, add, set(hPlace))
    ;[ab, bc] = [bc, ab]
    state = [hPlace, ...state.slice(0, 7)]
  }
  state.forEach((local, i) => code.push(zero, zero, load(STATE + 16 * i), get(local), add, store(STATE + 16 * i)))
  return code
}

/**
 * `nodes(pairs - 1, hashes, groups)`: four nodes a group, 0x01 || left || right each, which is one block and one byte.
 */
const hashGroups = (): Code => {
  const [FROM, TO, GROUPS, V] = [0, 1, 2, 3]
  const everyLane = (each: (lane: number) => Code): Code => Array.from({ length: LANES }, (_, lane) => each(lane))
  const gather = (offset: number): Code => [
    splat(0),
    set(V),
    everyLane((lane) => [get(FROM), get(V), loadLane(offset + 64 * lane, lane), set(V)]),
    get(V),
    swapBytes(V)
  ]
  const setWord = (i: number, value: Code): Code => [zero, value, store(WORDS + 16 * i)]
  const code: Array<Code> = primes.slice(0, 8).map((prime, i) => [zero, splat(rootOf(prime, 2)), store(STATE + 16 * i)])
  // Every word begins one byte before four bytes of the pair; in the first one that byte is the 0x01.
  code.push(setWord(0, [gather(0), splat(0x00ffffff), and, splat(0x01000000), or]))
  for (let i = 1; i < 16; i++) code.push(setWord(i, gather(4 * i)))
  code.push(call(0))
  // The last byte of the pair, the bit that ends every message, and the length in bits.
  code.push(setWord(0, [gather(61), shiftLeft(24), splat(0x00800000), or]))
  for (let i = 1; i < 15; i++) code.push(setWord(i, splat(0)))
  code.push(setWord(15, splat(65 * 8)), call(0))
  for (let i = 0; i < 8; i++) {
    code.push(
      zero,
      load(STATE + 16 * i),
      swapBytes(V),
      set(V),
      everyLane((lane) => [get(TO), get(V), storeLane(4 * i + 32 * lane, lane)])
    )
  }
  code.push(get(FROM), i32(64 * LANES), addI32, set(FROM), get(TO), i32(32 * LANES), addI32, set(TO))
  return countDown(GROUPS, code)
}

/**
 * The first functions of a module, and what its memory must begin with. `nodes(pairs - 1, hashes, groups)` may hash up
 * to three pairs that lie behind those that count.
 */
export const nodeFunctions = (): ReadonlyArray<WasmFunction> => [
  { parameters: 0, vectors: 27, code: compress() },
  { parameters: 3, vectors: 1, code: hashGroups(), name: "nodes" }
]
export const nodeConstants = (): ReadonlyArray<number> => [
  ...new Uint8Array(Uint32Array.from(primes, (prime) => rootOf(prime, 3)).buffer)
]

/** What such a module exports. */
export interface NodeExports {
  readonly memory: WebAssembly.Memory
  readonly nodes: (from: number, to: number, groups: number) => void
}

/** The hasher; null where WebAssembly or its 128-bit words are missing. */
export const nodeLanes = (): NodeHashes | null => {
  try {
    const { memory, nodes } = new WebAssembly.Instance(
      new WebAssembly.Module(moduleOf(nodeFunctions(), PAGES, nodeConstants()))
    ).exports as unknown as NodeExports
    const bytes = new Uint8Array(memory.buffer)
    return (pairs, count, out) => {
      for (let done = 0; done < count; done += NODES) {
        const some = Math.min(NODES, count - done)
        bytes.set(pairs.subarray(64 * done, 64 * (done + some)), PAIRS)
        nodes(PAIRS - 1, HASHES, Math.ceil(some / LANES))
        out.set(bytes.subarray(HASHES, HASHES + 32 * some), 32 * done)
      }
    }
  } catch {
    return null
  }
}
