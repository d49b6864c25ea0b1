/** Envelopes, waivers and evaluations through the plain client. */
import {
  BacktestIn,
  decode,
  DiffQuery,
  EnvelopeCreate,
  EnvelopeListQuery,
  EnvelopeUpdate,
  EvaluationIn,
  EvaluationListQuery,
  LintIn,
  PublishIn,
  VoidIn,
  WaiverCreate,
  WithdrawIn
} from "@flyball/contract"
import { Effect } from "effect"
import { Envelopes } from "../../verdicts/envelopes/service.ts"
import { Evaluations } from "../../verdicts/evaluations/service.ts"
import { Waivers } from "../../verdicts/waivers/service.ts"
import type { Writer } from "../../foundation/writer.ts"
import { everyUnit } from "../../foundation/scope.ts"
import { type Acting, acting } from "./acting.ts"
import type { EnvelopesClient, WaiversClient } from "./types/bound-client-types.ts"
import type { Client } from "./client.ts"
import { ensureEnvelope } from "./ensure-envelope.ts"
import type { ActOptions, CallOptions } from "./call-options.ts"
import { decoded, decodeVersion, query } from "./input.ts"

const decodeCreate = decode(EnvelopeCreate)
const decodeUpdate = decode(EnvelopeUpdate)
const decodeList = query(decode(EnvelopeListQuery))
const decodeLint = decode(LintIn)
const decodeBacktest = decode(BacktestIn)
const decodePublish = decode(PublishIn)
const decodeWithdraw = decode(WithdrawIn)
const decodeDiff = query(decode(DiffQuery))
const decodeWaiver = decode(WaiverCreate)
const decodeEvaluation = decode(EvaluationIn)
const decodeEvaluations = query(decode(EvaluationListQuery))
const decodeVoid = decode(VoidIn)

/** Envelopes over a client. */
export const envelopesClient = (client: Client, own: Writer): EnvelopesClient => {
  const envelopes = envelopesOver(client, acting(client, own))
  return { ...envelopes, ensure: (input, options) => ensureEnvelope(envelopes, input, options) }
}

const envelopesOver = ({ run }: Client, act: Acting): Omit<EnvelopesClient, "ensure"> => ({
  create: (input, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeCreate, input), (read) =>
          Envelopes.use((envelopes) => envelopes.create(read, writer))
        ),
      options
    ),
  update: (id, change, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeUpdate, change), (read) =>
          Envelopes.use((envelopes) => envelopes.update(id, read, writer))
        ),
      options
    ),
  get: (id, options) =>
    run(
      Envelopes.use((envelopes) => envelopes.get(id)),
      options
    ),
  list: (filter = {}, options) =>
    run(
      Effect.flatMap(decodeList(filter), (read) => Envelopes.use((envelopes) => envelopes.list(read))),
      options
    ),
  lint: (id, instead = {}, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeLint, instead), (read) =>
          Envelopes.use((envelopes) => envelopes.lint(id, read, everyUnit, writer.id))
        ),
      options
    ),
  backtest: (id, over = {}, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeBacktest, over), (read) =>
          Envelopes.use((envelopes) => envelopes.backtest(id, read, everyUnit, writer.id))
        ),
      options
    ),
  publish: (id, how = {}, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodePublish, how), (read) =>
          Envelopes.use((envelopes) => envelopes.publish(id, read, writer))
        ),
      options
    ),
  withdraw: (id, why = {}, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeWithdraw, why), (read) =>
          Envelopes.use((envelopes) => envelopes.withdraw(id, read, writer))
        ),
      options
    ),
  versions: (id, options) =>
    run(
      Envelopes.use((envelopes) => envelopes.versions(id)),
      options
    ),
  version: (id, version, options) =>
    run(
      Effect.flatMap(decodeVersion(version), (read) => Envelopes.use((envelopes) => envelopes.version(id, read))),
      options
    ),
  diff: (id, versions = {}, options) =>
    act(
      (writer) =>
        Effect.flatMap(decodeDiff(versions), (read) =>
          Envelopes.use((envelopes) => envelopes.diff(id, read, everyUnit, writer.id))
        ),
      options
    )
})

/** Waivers over a client. */
export const waiversClient = (client: Client, own: Writer): WaiversClient => waiversOver(client, acting(client, own))

const waiversOver = ({ run }: Client, act: Acting): WaiversClient => ({
  request: (envelopeId, input, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeWaiver, input), (read) =>
          Waivers.use((waivers) => waivers.request(envelopeId, read, writer))
        ),
      options
    ),
  grant: (envelopeId, waiverId, options) =>
    act((writer) => Waivers.use((waivers) => waivers.grant(envelopeId, waiverId, writer)), options),
  list: (envelopeId, options) =>
    run(
      Waivers.use((waivers) => waivers.list(envelopeId)),
      options
    )
})

/** Evaluations over a client. The writer of an evaluation is the governor's own; voiding is a person's act. */
export const evaluationsClient = (client: Client, own: Writer) => evaluationsOver(client, own, acting(client, own))

const evaluationsOver = ({ run }: Client, own: Writer, act: Acting) => ({
  evaluate: (input: unknown, options?: CallOptions) =>
    run(
      Effect.flatMap(decoded(decodeEvaluation, input), (read) =>
        Evaluations.use((evaluations) => evaluations.evaluate(read, own))
      ),
      options
    ),
  evaluation: (id: string, options?: CallOptions) =>
    run(
      Evaluations.use((evaluations) => evaluations.get(id)),
      options
    ),
  evaluations: (filter: object, options?: CallOptions) =>
    run(
      Effect.flatMap(decodeEvaluations(filter), (read) => Evaluations.use((evaluations) => evaluations.list(read))),
      options
    ),
  explain: (id: string, options?: CallOptions) =>
    run(
      Evaluations.use((evaluations) => evaluations.explain(id)),
      options
    ),
  voidEvaluation: (id: string, why: unknown = {}, options?: ActOptions) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeVoid, why), (read) =>
          Evaluations.use((evaluations) => evaluations.void(id, read, writer))
        ),
      options
    )
})
