/** Envelopes and evaluations through the plain door. */
import { decode, DiffQuery, EnvelopeCreate, EnvelopeUpdate, EvaluationIn, LintIn, PublishIn, WithdrawIn } from "@flyball/contract"
import { Effect } from "effect"
import { Envelopes } from "../envelopes/service.ts"
import { Evaluations } from "../evaluations/service.ts"
import { isWriterId, type Writer } from "../writer.ts"
import type { ActOptions, EnvelopesDoor } from "./bound-door-types.ts"
import type { Door } from "./door.ts"
import { GovernorError } from "./error.ts"
import { decoded, query } from "./input.ts"

const decodeCreate = decode(EnvelopeCreate)
const decodeUpdate = decode(EnvelopeUpdate)
const decodeLint = decode(LintIn)
const decodePublish = decode(PublishIn)
const decodeWithdraw = decode(WithdrawIn)
const decodeDiff = query(decode(DiffQuery))
const decodeEvaluation = decode(EvaluationIn)

/** The writer that a call names, or the governor's own. */
const writerOf = (own: Writer, { writer }: ActOptions = {}): Writer => {
  if (writer === undefined) return own
  if (!isWriterId(writer)) throw new GovernorError("invalid_writer", "The writer is expected to be `usr_…`, `key_…` or `system:` and a name.")
  return { id: writer }
}

/** Envelopes over a door. */
export const envelopesDoor = ({ run }: Door, own: Writer): EnvelopesDoor => ({
  create: async (input, options) => run(Effect.flatMap(decoded(decodeCreate, input), (read) => Envelopes.use((envelopes) => envelopes.create(read, writerOf(own, options)))), options),
  update: async (id, change, options) => run(Effect.flatMap(decoded(decodeUpdate, change), (read) => Envelopes.use((envelopes) => envelopes.update(id, read, writerOf(own, options)))), options),
  get: (id, options) => run(Envelopes.use((envelopes) => envelopes.get(id)), options),
  list: (options) => run(Envelopes.use((envelopes) => envelopes.list({})), options),
  lint: (id, instead = {}, options) => run(Effect.flatMap(decoded(decodeLint, instead), (read) => Envelopes.use((envelopes) => envelopes.lint(id, read))), options),
  publish: async (id, how = {}, options) => run(Effect.flatMap(decoded(decodePublish, how), (read) => Envelopes.use((envelopes) => envelopes.publish(id, read, writerOf(own, options)))), options),
  withdraw: async (id, why = {}, options) => run(Effect.flatMap(decoded(decodeWithdraw, why), (read) => Envelopes.use((envelopes) => envelopes.withdraw(id, read, writerOf(own, options)))), options),
  versions: (id, options) => run(Envelopes.use((envelopes) => envelopes.versions(id)), options),
  diff: (id, versions = {}, options) => run(Effect.flatMap(decodeDiff(versions), (read) => Envelopes.use((envelopes) => envelopes.diff(id, read))), options)
})

/** Evaluations over a door. */
export const evaluationsDoor = ({ run }: Door, writer: Writer) => ({
  evaluate: (input: unknown, options?: ActOptions) => run(Effect.flatMap(decoded(decodeEvaluation, input), (read) => Evaluations.use((evaluations) => evaluations.evaluate(read, writer))), options),
  evaluation: (id: string, options?: ActOptions) => run(Evaluations.use((evaluations) => evaluations.get(id)), options),
  explain: (id: string, options?: ActOptions) => run(Evaluations.use((evaluations) => evaluations.explain(id)), options)
})
