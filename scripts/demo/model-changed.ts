/** The demo's chapter on behaviour: an agent gets another model, and the comparison finds what it does otherwise. */
import { readFileSync, writeFileSync } from "node:fs"
import type { RunningServer } from "./server.ts"

/** Result of this step. */
export interface ModelChanged {
  readonly agent: string
  readonly runs: number
  readonly models: readonly [before: string, after: string]
  readonly window: number
  readonly verdict: string
  /** Dimensions in which a change was found. */
  readonly changed: ReadonlyArray<{
    readonly name: string
    readonly component: string
    readonly before: string
    readonly after: string
  }>
  readonly novel: ReadonlyArray<string>
  readonly vanished: ReadonlyArray<string>
  /** True when the answer names the first decision of the other model. */
  readonly isNamed: boolean
  /** The file of the answer, for the verifier. */
  readonly answer: string
}

interface Packed {
  readonly agent: string
  readonly model: string
  readonly actions: ReadonlyArray<string>
  readonly runs: ReadonlyArray<ReadonlyArray<number>>
}

const statuses = ["ok", "error", "unknown"]
/** Decisions of the first model that the fixture has. */
const WINDOW = 686

/** Witnesses the real runs of an agent with one model and then with another, and compares. */
export const modelChanged = async (
  folder: string,
  {
    admin,
    agent,
    key,
    server
  }: {
    readonly admin: string
    readonly agent: { readonly id: string; readonly name: string }
    readonly key: string
    readonly server: RunningServer
  }
): Promise<ModelChanged> => {
  const packed: ReadonlyArray<Packed> = JSON.parse(
    readFileSync(new URL("../../fixtures/traces/tau-runs.json", import.meta.url), "utf8")
  )
  const [before, after] = ["gpt-4.1", "ft:gpt-4.1-2025-04-14:tau2-full-sft"].map((model) =>
    packed.find((one) => one.agent === agent.name && one.model === model)!
  ) as [Packed, Packed]
  const witness = async ({ actions, model, runs }: Packed): Promise<number> => {
    const decisions = runs.flatMap((run, at) =>
      run.map((one, step) => ({
        client_ref: `${model}/${at}/${step}`,
        run_id: `${model}/${at}`,
        model,
        action: actions[Math.floor(one / 10)],
        status: statuses[Math.floor((one % 10) / 2)],
        kind: one % 2 === 1 ? "tool_call" : "message"
      }))
    )
    const { json, status } = await server.call("POST", `/api/v1/agents/${agent.id}/decisions`, key, { decisions })
    if (status !== 201) throw new Error(`witnessing the runs of ${model} answered ${status}: ${JSON.stringify(json)}`)
    return json.receipts[0].seq
  }
  await witness(before)
  const first = await witness(after)
  const path = `/api/v1/behavior/agents/${agent.id}/change?lookback=${2 * WINDOW}&window=${WINDOW}`
  const { bytes, json, status } = await server.call("GET", path, admin)
  if (status !== 200) throw new Error(`the comparison answered ${status}: ${JSON.stringify(json)}`)
  const answer = `${folder}/change.json`
  writeFileSync(answer, bytes)
  const percent = (share: number): string => `${Math.round(100 * share)} %`
  return {
    agent: agent.name,
    runs: before.runs.length,
    models: [before.model, after.model],
    window: WINDOW,
    verdict: json.verdict,
    changed: json.dimensions
      .filter((one: { readonly changed: boolean | null }) => one.changed)
      .map(({ effect, name }: { readonly effect: any; readonly name: string }) => ({
        name,
        component: effect.component.join(", then "),
        before: percent(effect.baseline),
        after: percent(effect.current)
      })),
    novel: json.novel.map(({ value }: { readonly value: string }) => value),
    vanished: json.vanished.map(({ value }: { readonly value: string }) => value),
    isNamed: json.annotations.some(
      (one: { readonly kind: string; readonly seq: number }) => one.kind === "model_changed" && one.seq === first
    ),
    answer
  }
}

/** The sentences of the page. */
export const modelChangedLines = (
  { agent, changed, isNamed, models: [earlier, later], novel, runs, vanished, verdict, window }: ModelChanged,
  recomputed: string
): ReadonlyArray<string> => [
  `${agent} went on with ${runs} real runs of ${earlier}, and then ${runs} of ${later}. Nobody said what changes.`,
  `The newest ${window} decisions against the ${window} before them: ${verdict}, ` +
    changed
      .map(({ after, before, component, name }) => `in ${name}: ${component} in ${before} of runs before, ${after} now`)
      .join("; ") +
    ". The chance of a false finding is 5 % over all it compares.",
  `New: ${novel.join(", ")}; gone: ${vanished.join(", ")}. ` +
    (isNamed
      ? "Beside it stands the record with which the model changed."
      : "The record with which the model changed is not named.") +
    ` The verifier made the comparison again from the pack: ${recomputed}.`
]
