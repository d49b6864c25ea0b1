import type * as Contract from "@flyball/contract"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import type { ReplayReport } from "../outward/replay/service.ts"
import type * as Mapping from "./clients/access-mapping-client-types.ts"
import type * as Agents from "./clients/agents-client-types.ts"
import type * as Bound from "./clients/bound-client-types.ts"
import type * as Chain from "./clients/chain-types.ts"
import type * as Decisions from "./clients/decision-types.ts"
import type * as Models from "./clients/models-client-types.ts"
import type * as Provenance from "./clients/provenance-client-types.ts"
import type * as Hooks from "./clients/webhooks-client-types.ts"

/** Compiles only where every `From` is a `To`. */
const fits = <From extends To, To>(): From | To | undefined => undefined

/** What is left where undefined counts as absent. */
type Given<T> =
  T extends ReadonlyArray<infer Item>
    ? ReadonlyArray<Given<Item>>
    : T extends object
      ? { [Name in keyof T]: Given<Exclude<T[Name], undefined>> }
      : T

describe("the plain types of the governor", () => {
  it("say what the contract says: this file compiles", () => {
    // What a host hands in is what the contract takes…
    fits<Given<Agents.AgentInput>, Contract.AgentCreate>()
    fits<Given<Agents.AgentChange>, Contract.AgentUpdate>()
    fits<keyof Contract.AgentUpdate, keyof Agents.AgentChange>()
    fits<Given<Agents.OwnerInput>, Contract.OwnershipTransfer>()
    fits<Given<Agents.IdentityInput>, Contract.IdentityIn>()
    fits<keyof Contract.IdentityIn, keyof Agents.IdentityInput>()
    fits<keyof Contract.SignedCard, keyof NonNullable<Agents.IdentityInput["signed_card"]>>()
    fits<
      Given<Required<Pick<Decisions.DecisionInput, "kind" | "status">> & Decisions.DecisionInput>,
      Contract.DecisionIn
    >()
    fits<Given<Decisions.SettleInput>, Contract.SettleIn>()
    fits<Given<Decisions.GapInput>, Contract.CaptureGapIn>()
    fits<Given<Chain.ErasureInput>, Contract.ErasureIn>()
    fits<Given<Chain.PackInput>, Contract.PackRequest>()
    fits<Given<Omit<Hooks.WebhookInput, "events">>, Omit<Contract.WebhookCreate, "events">>()
    fits<keyof Contract.WebhookCreate, keyof Hooks.WebhookInput>()
    fits<Given<Agents.AgentFilter>, Contract.AgentListQuery>()
    fits<Given<Agents.TimelineFilter>, Contract.TimelineQuery>()
    fits<keyof Contract.TimelineQuery, keyof Agents.TimelineFilter>()
    fits<Contract.TimelineEntry, Agents.TimelineEntryInfo>()
    fits<Agents.TimelineEntryInfo, Contract.TimelineEntry>()
    fits<Given<Decisions.DecisionFilter>, Contract.DecisionListQuery>()
    fits<Given<Chain.RecordFilter>, Contract.RecordsQuery>()
    // … and nothing that the contract takes is missing.
    fits<keyof Contract.AgentCreate, keyof Agents.AgentInput>()
    fits<keyof Contract.DecisionIn, keyof Decisions.DecisionInput>()
    fits<keyof Contract.SettleIn, keyof Decisions.SettleInput>()
    fits<keyof Contract.PackRequest, keyof Chain.PackInput>()
    fits<keyof Contract.AgentListQuery, keyof Agents.AgentFilter>()
    fits<keyof Contract.DecisionListQuery, keyof Decisions.DecisionFilter>()
    fits<keyof Contract.RecordsQuery, keyof Chain.RecordFilter>()
    // What a host gets back is what the contract answers, member by member.
    fits<Contract.Agent, Agents.AgentInfo>()
    fits<Agents.AgentInfo, Contract.Agent>()
    fits<Contract.Orphan, Agents.OrphanInfo>()
    fits<Contract.IdentityVerdict, Agents.IdentityInfo>()
    fits<Agents.IdentityInfo, Contract.IdentityVerdict>()
    fits<Given<Bound.EvaluationInput>, Contract.EvaluationIn>()
    fits<keyof Contract.EvaluationIn, keyof Bound.EvaluationInput>()
    fits<Contract.Evaluation, Bound.EvaluationInfo>()
    fits<Contract.ExplanationOut, Bound.ExplanationInfo>()
    fits<Contract.EnvelopeOut, Bound.EnvelopeInfo>()
    fits<Contract.EnvelopeVersionOut, Bound.EnvelopeVersionInfo>()
    fits<Contract.LintOut, Bound.LintInfo>()
    fits<Contract.DiffOut, Bound.DiffInfo>()
    fits<Contract.BacktestOut, Bound.BacktestInfo>()
    fits<Bound.BacktestInfo, Contract.BacktestOut>()
    fits<Contract.WaiverOut, Bound.WaiverInfo>()
    fits<Bound.WaiverInfo, Contract.WaiverOut>()
    fits<Contract.VoidOut, Bound.VoidInfo>()
    fits<Bound.VoidInfo, Contract.VoidOut>()
    fits<Given<NonNullable<Parameters<Bound.EnvelopesClient["lint"]>[1]>>, Contract.LintIn>()
    fits<keyof Contract.LintIn, keyof NonNullable<Parameters<Bound.EnvelopesClient["lint"]>[1]>>()
    fits<Given<NonNullable<Parameters<Bound.EnvelopesClient["publish"]>[1]>>, Contract.PublishIn>()
    fits<keyof Contract.PublishIn, keyof NonNullable<Parameters<Bound.EnvelopesClient["publish"]>[1]>>()
    fits<Given<NonNullable<Parameters<Bound.EnvelopesClient["backtest"]>[1]>>, Contract.BacktestIn>()
    fits<keyof Contract.BacktestIn, keyof NonNullable<Parameters<Bound.EnvelopesClient["backtest"]>[1]>>()
    fits<keyof Contract.EnvelopeListQuery, keyof NonNullable<Parameters<Bound.EnvelopesClient["list"]>[0]>>()
    fits<Given<Parameters<Bound.WaiversClient["request"]>[1]>, Contract.WaiverCreate>()
    fits<keyof Contract.WaiverCreate, keyof Parameters<Bound.WaiversClient["request"]>[1]>()
    fits<Contract.ReceiptsOut, Decisions.Receipts>()
    fits<Decisions.Receipts, Contract.ReceiptsOut>()
    fits<Contract.DecisionOut, Decisions.DecisionInfo>()
    fits<Given<Decisions.DecisionInfo>, Contract.DecisionOut>()
    fits<Contract.SettleOut, Decisions.SettleReceipt>()
    fits<Contract.CaptureGapOut, Decisions.GapReceipt>()
    fits<Contract.HeadOut, Chain.HeadInfo>()
    fits<Contract.VerifyOut, Chain.VerifyInfo>()
    fits<Contract.ProofOut, Chain.ProofInfo>()
    fits<Contract.ConsistencyOut, Chain.ConsistencyInfo>()
    fits<Contract.KeysOut["keys"][number], Chain.KeyInfo>()
    fits<Contract.ErasureOut, Chain.ErasureInfo>()
    fits<Contract.WebhookOut, Hooks.WebhookInfo>()
    fits<Hooks.WebhookInfo, Contract.WebhookOut>()
    fits<Contract.WebhookTestOut, Hooks.WebhookTestInfo>()
    fits<Contract.DeliveryOut, Hooks.DeliveryInfo>()
    fits<Hooks.DeliveryInfo, Contract.DeliveryOut>()
    fits<Given<Models.ModelInput>, Contract.ModelCreate>()
    fits<keyof Contract.ModelCreate, keyof Models.ModelInput>()
    fits<Given<Models.ModelChange>, Contract.ModelUpdate>()
    fits<keyof Contract.ModelUpdate, keyof Models.ModelChange>()
    fits<Contract.ModelOut, Models.ModelInfo>()
    fits<Models.ModelInfo, Contract.ModelOut>()
    fits<Given<Provenance.ProvenanceInput>, Contract.ProvenanceCreate>()
    fits<keyof Contract.ProvenanceCreate, keyof Provenance.ProvenanceInput>()
    fits<Contract.ProvenanceOut, Provenance.ProvenanceInfo>()
    fits<Provenance.ProvenanceInfo, Contract.ProvenanceOut>()
    fits<Given<Required<Pick<Mapping.MappingInput, "trust_canonical">> & Mapping.MappingInput>, Contract.MappingIn>()
    fits<keyof Contract.MappingIn, keyof Mapping.MappingInput>()
    fits<Contract.MappingOut, Mapping.MappingInfo>()
    fits<Mapping.MappingInfo, Contract.MappingOut>()
    fits<keyof Contract.ResolveDraftIn, keyof Parameters<Mapping.AccessMappingClient["resolveDraft"]>[0]>()
    fits<Contract.ResolvedOut, Mapping.ResolvedInfo>()
    fits<Mapping.ResolvedInfo, Contract.ResolvedOut>()
    fits<Omit<ReplayReport, "agents">, Omit<Chain.CheckInfo, "agents">>()
  })

  it("name nothing of Effect in their declarations", async () => {
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
        [...(await readFile(join(out, file), "utf8")).matchAll(/(?:from|import)\s*\(?"([^"]+)"/g)]
          .map((match) => match[1]!)
          .sort()
      const folder = await declarationsOf(out)
      assert.deepStrictEqual(await imports(join(folder, "governor/governor.d.ts")), [
        "../chain/keys/keys.ts",
        "../foundation/metric-family.ts",
        "../outward/webhooks/webhooks-choice.ts",
        "../registry/identity/trust-store.ts",
        "../storage/choice.ts",
        "./clients/access-mapping-client-types.ts",
        "./clients/agents-client-types.ts",
        "./clients/bound-client-types.ts",
        "./clients/call-options.ts",
        "./clients/chain-types.ts",
        "./clients/decision-types.ts",
        "./clients/models-client-types.ts",
        "./clients/provenance-client-types.ts",
        "./clients/webhooks-client-types.ts",
        "./log-line.ts"
      ])
      for (const client of ["access-mapping", "agents", "bound", "models", "provenance", "webhooks"])
        assert.deepStrictEqual(await imports(join(folder, `governor/clients/${client}-client-types.d.ts`)), [
          "./call-options.ts"
        ])
      for (const plain of ["call-options", "chain-types", "decision-types"])
        assert.deepStrictEqual(await imports(join(folder, `governor/clients/${plain}.d.ts`)), [])
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
