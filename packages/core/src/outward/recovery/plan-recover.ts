/** Plans the chain that follows one which cannot be signed for any more. Pure. Decision 0010. */
import { canonicalBytes, formatVkey, PREVIOUS, previousBytes, REASON } from "@flyball/evidence"
import { Result } from "effect"
import { CHECKPOINTS } from "../../chain/check/checkpoints.ts"
import { genesisDraft } from "../../chain/keys/genesis.ts"
import { isOrigin } from "../../chain/keys/origin.ts"
import { OriginInvalid } from "../../chain/keys/start-errors.ts"
import { PACKS } from "../packs/document.ts"
import type { RetirePlan } from "../../storage/retirement.ts"
import type { Behind } from "./diagnose.ts"
import { nextOrigin } from "./next-origin.ts"
import { isRecoveryReason } from "./reason.ts"
import { OriginTaken, ReasonInvalid } from "./refusals.ts"

/** The operator's decisions for a recovery. Spec: decision 0010. */
export interface RecoveryCommand {
  readonly reason: string
  /** The new chain's name; made from the old one's, and unlike any other, when left out. */
  readonly origin: string | undefined
}

/** Further inputs of the plan. */
export interface RecoveryContext {
  readonly publicKey: Uint8Array
  /** Names of the earlier retired chains. */
  readonly taken: ReadonlyArray<string>
  /** 16 bytes, fresh for each recovery: the name that nobody chose is drawn from them. */
  readonly random: Uint8Array
}

/** Collections about the old chain: its tree heads, and packs of its records. */
const leave = [CHECKPOINTS, PACKS]

/**
 * Decides what takes the store's place: record 0 with what is known of the chain before, signed by the same key under a
 * new name.
 *
 * - Fails: `ReasonInvalid`, `OriginInvalid`, `OriginTaken`.
 */
export const planRecover = (
  behind: Behind,
  command: RecoveryCommand,
  { publicKey, random, taken }: RecoveryContext
): Result.Result<RetirePlan, ReasonInvalid | OriginInvalid | OriginTaken> => {
  const reason = reasonProblem(command.reason)
  if (reason !== null) return Result.fail(reason)
  const used = new Set([...taken, behind.origin])
  const origin = command.origin ?? nextOrigin(behind.origin, random)
  if (!isOrigin(origin)) return Result.fail(new OriginInvalid({ origin }))
  if (used.has(origin)) return Result.fail(new OriginTaken({ origin }))
  const previous = previousBytes({
    origin: behind.origin,
    checkpoint: behind.checkpoint?.note ?? null,
    signedSize: behind.signed?.size ?? null,
    signedRootHex: behind.signed?.rootHex ?? null,
    storedSize: (behind.head?.seq ?? -1) + 1,
    storedRootHex: behind.storedRootHex
  })
  return Result.succeed({
    head: behind.head,
    genesis: genesisDraft(origin, formatVkey(origin, publicKey), [
      { name: PREVIOUS, bytes: previous },
      { name: REASON, bytes: canonicalBytes(command.reason) }
    ]),
    leave
  })
}

/** Checks a recovery's reason; returns the refusal, or null when the reason is valid. */
export const reasonProblem = (reason: unknown): ReasonInvalid | null => {
  if (isRecoveryReason(reason)) return null
  return new ReasonInvalid({ length: [...String(reason ?? "")].length })
}
