/** Checks what a host hands in against the contract: the same shapes and the same answers as over HTTP. */
import {
  AgentCreate, AgentListQuery, AgentUpdate, CaptureGapIn, decode, type Decoder, DeliveriesQuery, DecisionBatchIn, type DecisionIn, DecisionListQuery, detailItem, DisownIn, ErasureIn, IdentityIn, InvalidInput,
  OwnershipTransfer, PackRequest, ProofQuery, quickDecisions, RecertifyIn, RecordsQuery, RecoverIn, RotateSecretIn, SettleIn, SuspendIn, VerifyQuery, WebhookCreate
} from "@flyball/contract"
import { Effect, Result } from "effect"
import { takenDown, withoutUndefined } from "./plain-input.ts"

/** An agent to register. */
export const decodeAgent = decode(AgentCreate)
/** What changes of an agent. */
export const decodeChange = decode(AgentUpdate)
/** Why an agent is suspended. */
export const decodeSuspend = decode(SuspendIn)
/** The next date of recertification. */
export const decodeRecertify = decode(RecertifyIn)
/** Another owner. */
export const decodeTransfer = decode(OwnershipTransfer)
/** Why an owner is taken away. */
export const decodeDisown = decode(DisownIn)
/** A signed card or a declared identity. */
export const decodeIdentity = decode(IdentityIn)
/** An outcome. */
export const decodeSettle = decode(SettleIn)
/** A capture gap. */
export const decodeGap = decode(CaptureGapIn)
/** An erasure. */
export const decodeErasure = decode(ErasureIn)
/** A request for a pack. */
export const decodePack = decode(PackRequest)
/** A webhook to be created. */
export const decodeWebhook = decode(WebhookCreate)
/** How long an old secret stays. */
export const decodeRotate = decode(RotateSecretIn)
/** Since when a webhook missed something. */
export const decodeRecover = decode(RecoverIn)

const batch = decode(DecisionBatchIn)
const agentFilter = decode(AgentListQuery)
const decisionFilter = decode(DecisionListQuery)
const recordFilter = decode(RecordsQuery)
const deliveryFilter = decode(DeliveriesQuery)
const range = decode(VerifyQuery)
const proof = decode(ProofQuery)

/** Decodes a body, which is taken down at the call: the effect may run in a later turn, and read it long after. Members that are undefined count as absent. */
export const decoded = <A>(decoder: Decoder<A>, input: unknown): Effect.Effect<A, InvalidInput> =>
  taking(() => takenDown(input), (plain) => answer(decoder(plain, "body")))

/**
 * One decision or many, as the batch they are. Only what is unusual is put before the shape, which in this door is interpreted and slow.
 *
 * One is taken down at the call. A list is not: a copy of a thousand decisions would stop the host as long as the call's turn may be. Its caller leaves it alone until the promise settles.
 */
export const decodeDecisions = (input: unknown): Effect.Effect<ReadonlyArray<DecisionIn>, InvalidInput> =>
  Array.isArray(input)
    ? Effect.suspend(() => read(withoutUndefined({ decisions: input }) as { readonly decisions: unknown }))
    : taking(() => ({ decisions: [takenDown(input)] }), read)

const read = (plain: { readonly decisions: unknown }): Effect.Effect<ReadonlyArray<DecisionIn>, InvalidInput> => {
  const quick = quickDecisions(plain.decisions)
  return quick === null ? Effect.map(answer(batch(plain, "body")), ({ decisions }) => decisions) : Effect.succeed(quick)
}

/** Takes something down now, and goes on with it when the effect runs. A getter that throws ends the effect and not the call. */
const taking = <P, A>(take: () => P, goOn: (taken: P) => Effect.Effect<A, InvalidInput>): Effect.Effect<A, InvalidInput> => {
  const taken = Result.try(take)
  return Result.isFailure(taken) ? Effect.die(taken.failure) : Effect.suspend(() => goOn(taken.success))
}

/** A filter is a query: its numbers travel as text. */
export const query = <A>(decoder: Decoder<A>) => (input: object): Effect.Effect<A, InvalidInput> =>
  Effect.suspend(() => {
    const members = Object.entries(input).filter(([, value]) => value !== undefined)
    return answer(decoder(Object.fromEntries(members.map(([name, value]) => [name, typeof value === "number" ? String(value) : value])), "query"))
  })

/** Which agents. */
export const decodeAgentFilter = query(agentFilter)
/** Which decisions. */
export const decodeDecisionFilter = query(decisionFilter)
/** Which records. */
export const decodeRecordFilter = query(recordFilter)
/** Which deliveries. */
export const decodeDeliveries = query(deliveryFilter)
/** A stretch of the chain. */
export const decodeRange = query(range)

/** A seq and, where one is given, a tree size. */
export const decodeProof = (seq: unknown, treeSize: unknown): Effect.Effect<unknown, InvalidInput> =>
  Effect.andThen(decodeSeq(seq), query(proof)({ tree_size: treeSize }))

/** A seq: a whole number from 0. */
export const decodeSeq = (seq: unknown): Effect.Effect<void, InvalidInput> =>
  Number.isSafeInteger(seq) && (seq as number) >= 0
    ? Effect.void
    : Effect.fail(new InvalidInput({ detail: [detailItem(["path", "seq"], "int_type", "Input should be a whole number from 0", seq)] }))

const answer = <A>(result: Result.Result<A, InvalidInput["detail"]>): Effect.Effect<A, InvalidInput> =>
  Effect.fromResult(Result.mapError(result, (detail) => new InvalidInput({ detail })))
