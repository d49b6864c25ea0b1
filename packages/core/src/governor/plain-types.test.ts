import type * as Contract from "@flyball/contract"
import type { ConditionSource, EnvelopeSource, RuleSource, SignalText } from "@flyball/envelope"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import type { ReplayReport } from "../outward/replay/report.ts"
import type * as Bound from "./clients/types/bound-client-types.ts"
import type * as Chain from "./clients/types/chain-types.ts"

/** Compiles only where every `From` is a `To`. */
const fits = <From extends To, To>(): From | To | undefined => undefined

/** The type without `undefined`: a member that may be undefined counts as absent. */
type Given<T> =
  T extends ReadonlyArray<infer Item>
    ? ReadonlyArray<Given<Item>>
    : T extends object
      ? { [Name in keyof T]: Given<Exclude<T[Name], undefined>> }
      : T

describe("the plain types of the governor", () => {
  it("take and give what the contract does: this file compiles", () => {
    // Members that have a default may be left out, and what may be left out may be undefined, at any depth.
    const least: Contract.DecisionInput = { client_ref: "c", action: "a" }
    const most: Contract.DecisionInput = { ...least, kind: undefined, usage: { input_tokens: undefined }, args: null }
    const owner: Contract.AgentInput = { name: "n", org_unit: "o", owner_name: undefined, owner_email: null }
    // @ts-expect-error: a required member cannot be left out.
    const nameless: Contract.AgentInput = { org_unit: "o" }
    // @ts-expect-error: a word that the contract does not have.
    const wrong: Contract.SettleInput = { status: "intended" }
    const input = { name: "n", org_unit: "o" }
    const rules: Bound.EnvelopeInput = {
      ...input,
      envelope: {
        semantics: "envelope/1",
        signals: { tool: { type: "enum", values: ["pay"], source: "caller" } },
        effects: { pay: "money" },
        rules: [{ id: "pay", outcome: "deny", when: [{ signal: "tool", in: ["pay"] }], suggestion: "Ask." }],
        default: { outcome: "deny" }
      }
    }
    // @ts-expect-error: an effect class that the language does not have.
    const effects: EnvelopeSource["effects"] = { pay: "payment" }
    // @ts-expect-error: a suggestion is of a denial only.
    const suggesting: RuleSource = { id: "pay", outcome: "allow", when: [], suggestion: "Ask." }
    // @ts-expect-error: a condition asks one thing.
    const twice: ConditionSource = { signal: "n", lt: 1, gt: 0 }
    // @ts-expect-error: a signal is not both optional and replaced by a value.
    const missing: SignalText = { type: "bool", source: "caller", optional: true, on_missing: true }
    assert.lengthOf([rules, effects, suggesting, twice, missing], 5)
    const filter: Contract.AgentFilter = { limit: 10, after: undefined }
    assert.lengthOf([least, most, owner, nameless, wrong, filter], 6)
    fits<Given<Contract.AgentInput>, Contract.AgentCreate>()
    fits<
      Given<Required<Pick<Contract.DecisionInput, "kind" | "status">> & Contract.DecisionInput>,
      Contract.DecisionIn
    >()
    fits<keyof Contract.DecisionIn, keyof Contract.DecisionInput>()
    fits<Given<Contract.AgentFilter>, Contract.AgentListQuery>()
    fits<Contract.Agent, Contract.AgentInfo>()
    fits<Contract.AgentInfo, Contract.Agent>()
    fits<Contract.Evaluation, Contract.EvaluationInfo>()
    fits<Contract.EvaluationInfo, Contract.Evaluation>()
    fits<
      Given<Required<Pick<Contract.BreakerInput, "enabled" | "mode">> & Contract.BreakerInput>,
      Contract.BreakerCreate
    >()
    fits<Contract.Breaker, Contract.BreakerInfo>()
    fits<Contract.BreakerInfo, Contract.Breaker>()
    fits<Contract.KillStatus, Contract.KillStatusInfo>()
    fits<Contract.KillActivationInfo, Contract.KillActivation>()
    // What is written by hand.
    fits<Given<Omit<Contract.WebhookInput, "events">>, Omit<Contract.WebhookCreate, "events">>()
    fits<keyof Contract.WebhookCreate, keyof Contract.WebhookInput>()
    // What HTTP does not have, or in another form.
    type Counts = ReplayReport["agents"] extends ReadonlyMap<string, infer Each> ? Each : never
    fits<ReplayReport, Omit<Chain.CheckInfo, "agents">>()
    fits<keyof ReplayReport, keyof Chain.CheckInfo>()
    fits<{ readonly agent_id: string } & Counts, Chain.CheckInfo["agents"][number]>()
    fits<Chain.CheckInfo["agents"][number], Counts>()
  })

  // It compiles the package, which takes half a minute of one core.
  it("name nothing of Effect in their declarations", { timeout: 300_000 }, async () => {
    const out = await mkdtemp(join(tmpdir(), "flyball-declarations-"))
    try {
      const source = join(import.meta.dirname, "governor.ts")
      const root = join(import.meta.dirname, "../../../..")
      const flags = [
        "--ignoreConfig",
        "--declaration",
        "--emitDeclarationOnly",
        "--outDir",
        out,
        "--target",
        "es2024",
        "--lib",
        "es2024,esnext.disposable,dom",
        "--types",
        "node",
        "--module",
        "nodenext",
        "--strict",
        "--exactOptionalPropertyTypes",
        "--allowImportingTsExtensions",
        "--rewriteRelativeImportExtensions",
        "--skipLibCheck"
      ]
      await promisify(execFile)(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...flags, source], {
        cwd: root
      })
      const imports = async (file: string): Promise<ReadonlyArray<string>> =>
        [
          ...new Set(
            [...(await readFile(join(out, file), "utf8")).matchAll(/(?:from|import)\s*\(?"([^"]+)"/g)].map(
              (match) => match[1]!
            )
          )
        ].sort()
      const folder = await declarationsOf(out)
      assert.deepStrictEqual(await imports(join(folder, "governor/governor.d.ts")), [
        "../capability/capability.ts",
        "../chain/keys/keys.ts",
        "../foundation/metric-family.ts",
        "../outward/webhooks/webhooks-choice.ts",
        "../registry/identity/trust-store.ts",
        "../storage/choice.ts",
        "./clients/call-options.ts",
        "./clients/client-of.ts",
        "./clients/types/agent-client-types.ts",
        "./clients/types/bound-client-types.ts",
        "./clients/types/chain-types.ts",
        "./log-line.ts",
        "@flyball/contract",
        "@flyball/contract/http"
      ])
      assert.deepStrictEqual(await imports(join(folder, "governor/clients/types/bound-client-types.d.ts")), [
        "../call-options.ts",
        "../client-of.ts",
        "@flyball/contract",
        "@flyball/contract/http",
        "@flyball/envelope"
      ])
      assert.deepStrictEqual(await imports(join(folder, "governor/clients/types/agent-client-types.d.ts")), [
        "@flyball/contract"
      ])
      assert.deepStrictEqual(await imports(join(folder, "governor/clients/types/chain-types.d.ts")), [
        "../../../outward/replay/report.ts",
        "@flyball/contract"
      ])
      assert.deepStrictEqual(await imports(join(folder, "outward/replay/report.d.ts")), ["@flyball/rules"])
      assert.deepStrictEqual(await imports(join(folder, "governor/clients/call-options.d.ts")), [])
      assert.deepStrictEqual(await imports(join(folder, "governor/log-line.d.ts")), [])
      assert.deepStrictEqual(await imports(join(folder, "foundation/governor-error.d.ts")), [])
    } finally {
      await rm(out, { recursive: true })
    }
  })
})

/** Where the compiler put them: it keeps as much of the path as its inputs differ in. */
const declarationsOf = async (out: string): Promise<string> => {
  for (const folder of ["", "src", "core/src", "packages/core/src"]) {
    if (
      await readFile(join(out, folder, "governor/governor.d.ts")).then(
        () => true,
        () => false
      )
    )
      return folder
  }
  throw new Error("The compiler is expected to write governor.d.ts.")
}
