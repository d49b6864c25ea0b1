/**
 * The closed list of functions of derived signals: exact on integers, total on their domains, and named with their
 * version for ever.
 *
 * Spec: `SPEC.md` section 4.
 */
import type { DerivedFunction } from "./envelope.ts"
import { MAX_INT, MIN_INT } from "./limits.ts"

/** A domain of integers; both ends belong to it. */
export interface Domain {
  readonly min: number
  readonly max: number
}

interface Row {
  readonly least: number
  readonly most: number
  /** Where the result lies; null where it could leave the integers, or the function is not defined on these domains. */
  readonly domain: (args: ReadonlyArray<Domain>) => Domain | null
  readonly compute: (args: ReadonlyArray<number>, domain: Domain) => number
}

/** A rounded bound is either past the integers, which is refused, or exact. */
const within = (min: number, max: number): Domain | null =>
  min < MIN_INT || max > MAX_INT ? null : { min: min + 0, max: max + 0 }

/** In doubles where the product is exact in them, which is nearly always. */
const share = (a: number, b: number, max: number): number => {
  const scaled = a * 10_000
  return scaled <= MAX_INT
    ? Math.min((scaled - (scaled % b)) / b, max)
    : Number(least((BigInt(a) * 10_000n) / BigInt(b), BigInt(max)))
}

const added = (numbers: ReadonlyArray<number>): number => numbers.reduce((a, b) => a + b, 0)

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Bounds no partial sum can leave, so that adding from left to right is exact. */
const sumDomain = (args: ReadonlyArray<Domain>): Domain | null => {
  const reach = added(args.map((a) => Math.max(-a.min, a.max)))
  return within(-reach, reach) === null ? null : within(added(args.map((a) => a.min)), added(args.map((a) => a.max)))
}

/** Functions by name and version. */
export const derivedFunctions: { readonly [F in DerivedFunction]: Row } = {
  // floor(a * 10,000 / b): the share of a in b in basis points. Of nothing in nothing it is 0, of something in nothing
  // the greatest value of the domain.
  "ratio_bp@1": {
    least: 2,
    most: 2,
    domain: ([a, b]) =>
      a!.min < 0 || b!.min < 0 ? null : { min: 0, max: Number(least(BigInt(a!.max) * 10_000n, BigInt(MAX_INT))) },
    compute: ([a, b], { max }) => (b === 0 ? (a === 0 ? 0 : max) : share(a!, b!, max))
  },
  "difference@1": {
    least: 2,
    most: 2,
    domain: ([a, b]) => within(a!.min - b!.max, a!.max - b!.min),
    compute: ([a, b]) => a! - b!
  },
  "sum@1": { least: 2, most: 8, domain: sumDomain, compute: (args) => added(args) },
  "product@1": {
    least: 2,
    most: 2,
    domain: ([a, b]) => {
      const corners = [a!.min * b!.min, a!.min * b!.max, a!.max * b!.min, a!.max * b!.max]
      return within(Math.min(...corners), Math.max(...corners))
    },
    // Adding 0 makes 0 of -0.
    compute: ([a, b]) => a! * b! + 0
  },
  "min@1": {
    least: 2,
    most: 8,
    domain: (args) => ({ min: Math.min(...args.map((a) => a.min)), max: Math.min(...args.map((a) => a.max)) }),
    compute: (args) => Math.min(...args)
  },
  "max@1": {
    least: 2,
    most: 8,
    domain: (args) => ({ min: Math.max(...args.map((a) => a.min)), max: Math.max(...args.map((a) => a.max)) }),
    compute: (args) => Math.max(...args)
  }
}
