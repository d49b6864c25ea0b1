import type * as Contract from "@flyball/contract"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import type { ReplayReport } from "../replay/service.ts"
import type * as Bound from "./bound-door-types.ts"
import type * as Plain from "./types.ts"
import type * as Hooks from "./webhooks-door-types.ts"

/** Compiles only where every `From` is a `To`. */
const fits = <From extends To, To>(): From | To | undefined => undefined

describe("the plain types of the governor", () => {
  it("say what the contract says: this file compiles", () => {
    // What a host hands in is what the contract takes…
    fits<Plain.AgentInput, Contract.AgentCreate>()
    fits<Plain.AgentChange, Contract.AgentUpdate>()
    fits<keyof Contract.AgentUpdate, keyof Plain.AgentChange>()
    fits<Plain.OwnerInput, Contract.OwnershipTransfer>()
    fits<Plain.IdentityInput, Contract.IdentityIn>()
    fits<keyof Contract.IdentityIn, keyof Plain.IdentityInput>()
    fits<keyof Contract.SignedCard, keyof NonNullable<Plain.IdentityInput["signed_card"]>>()
    fits<Required<Pick<Plain.DecisionInput, "kind" | "status">> & Plain.DecisionInput, Contract.DecisionIn>()
    fits<Plain.SettleInput, Contract.SettleIn>()
    fits<Plain.GapInput, Contract.CaptureGapIn>()
    fits<Plain.ErasureInput, Contract.ErasureIn>()
    fits<Plain.PackInput, Contract.PackRequest>()
    fits<Omit<Hooks.WebhookInput, "events">, Omit<Contract.WebhookCreate, "events">>()
    fits<keyof Contract.WebhookCreate, keyof Hooks.WebhookInput>()
    fits<Plain.AgentFilter, Contract.AgentListQuery>()
    fits<Plain.DecisionFilter, Contract.DecisionListQuery>()
    fits<Plain.RecordFilter, Contract.RecordsQuery>()
    // … and nothing that the contract takes is missing.
    fits<keyof Contract.AgentCreate, keyof Plain.AgentInput>()
    fits<keyof Contract.DecisionIn, keyof Plain.DecisionInput>()
    fits<keyof Contract.SettleIn, keyof Plain.SettleInput>()
    fits<keyof Contract.PackRequest, keyof Plain.PackInput>()
    fits<keyof Contract.AgentListQuery, keyof Plain.AgentFilter>()
    fits<keyof Contract.DecisionListQuery, keyof Plain.DecisionFilter>()
    fits<keyof Contract.RecordsQuery, keyof Plain.RecordFilter>()
    // What a host gets back is what the contract answers, member by member.
    fits<Contract.Agent, Plain.AgentInfo>()
    fits<Plain.AgentInfo, Contract.Agent>()
    fits<Contract.Orphan, Plain.OrphanInfo>()
    fits<Contract.IdentityVerdict, Plain.IdentityInfo>()
    fits<Plain.IdentityInfo, Contract.IdentityVerdict>()
    fits<Bound.EvaluationInput, Contract.EvaluationIn>()
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
    fits<NonNullable<Parameters<Bound.EnvelopesDoor["lint"]>[1]>, Contract.LintIn>()
    fits<keyof Contract.LintIn, keyof NonNullable<Parameters<Bound.EnvelopesDoor["lint"]>[1]>>()
    fits<NonNullable<Parameters<Bound.EnvelopesDoor["publish"]>[1]>, Contract.PublishIn>()
    fits<keyof Contract.PublishIn, keyof NonNullable<Parameters<Bound.EnvelopesDoor["publish"]>[1]>>()
    fits<NonNullable<Parameters<Bound.EnvelopesDoor["backtest"]>[1]>, Contract.BacktestIn>()
    fits<keyof Contract.BacktestIn, keyof NonNullable<Parameters<Bound.EnvelopesDoor["backtest"]>[1]>>()
    fits<keyof Contract.EnvelopeListQuery, keyof NonNullable<Parameters<Bound.EnvelopesDoor["list"]>[0]>>()
    fits<Parameters<Bound.WaiversDoor["request"]>[1], Contract.WaiverCreate>()
    fits<keyof Contract.WaiverCreate, keyof Parameters<Bound.WaiversDoor["request"]>[1]>()
    fits<Contract.ReceiptsOut, Plain.Receipts>()
    fits<Plain.Receipts, Contract.ReceiptsOut>()
    fits<Contract.DecisionOut, Plain.DecisionInfo>()
    fits<Plain.DecisionInfo, Contract.DecisionOut>()
    fits<Contract.SettleOut, Plain.SettleReceipt>()
    fits<Contract.CaptureGapOut, Plain.GapReceipt>()
    fits<Contract.HeadOut, Plain.HeadInfo>()
    fits<Contract.VerifyOut, Plain.VerifyInfo>()
    fits<Contract.ProofOut, Plain.ProofInfo>()
    fits<Contract.ConsistencyOut, Plain.ConsistencyInfo>()
    fits<Contract.KeysOut["keys"][number], Plain.KeyInfo>()
    fits<Contract.ErasureOut, Plain.ErasureInfo>()
    fits<Contract.WebhookOut, Hooks.WebhookInfo>()
    fits<Hooks.WebhookInfo, Contract.WebhookOut>()
    fits<Contract.WebhookTestOut, Hooks.WebhookTestInfo>()
    fits<Contract.DeliveryOut, Hooks.DeliveryInfo>()
    fits<Hooks.DeliveryInfo, Contract.DeliveryOut>()
    fits<Omit<ReplayReport, "agents">, Omit<Plain.CheckInfo, "agents">>()
  })

  it("name nothing of Effect in their declarations", async () => {
    const out = await mkdtemp(join(tmpdir(), "flyball-declarations-"))
    try {
      const source = join(import.meta.dirname, "../governor.ts")
      const root = join(import.meta.dirname, "../../../..")
      const flags = ["--ignoreConfig", "--declaration", "--emitDeclarationOnly", "--outDir", out, "--target", "es2024", "--lib", "es2024,esnext.disposable,dom", "--types", "node",
        "--module", "nodenext", "--strict", "--exactOptionalPropertyTypes", "--allowImportingTsExtensions", "--rewriteRelativeImportExtensions", "--skipLibCheck"]
      await promisify(execFile)(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...flags, source], { cwd: root })
      const imports = async (file: string): Promise<ReadonlyArray<string>> =>
        [...(await readFile(join(out, file), "utf8")).matchAll(/(?:from|import)\s*\(?"([^"]+)"/g)].map((match) => match[1]!).sort()
      const folder = await declarationsOf(out)
      assert.deepStrictEqual(await imports(join(folder, "governor.d.ts")), ["./chain/keys.ts", "./governor/agents-door-types.ts", "./governor/bound-door-types.ts", "./governor/types.ts", "./governor/webhooks-door-types.ts", "./identity/trust-store.ts", "./storage/choice.ts", "./webhooks/webhooks-choice.ts"])
      assert.deepStrictEqual(await imports(join(folder, "governor/agents-door-types.d.ts")), ["./types.ts"])
      assert.deepStrictEqual(await imports(join(folder, "governor/webhooks-door-types.d.ts")), ["./types.ts"])
      assert.deepStrictEqual(await imports(join(folder, "governor/bound-door-types.d.ts")), ["./types.ts"])
      assert.deepStrictEqual(await imports(join(folder, "governor/types.d.ts")), [])
      assert.deepStrictEqual(await imports(join(folder, "governor/error.d.ts")), [])
    } finally {
      await rm(out, { recursive: true })
    }
  })
})

/** Where the compiler put them: it keeps as much of the path as its inputs differ in. */
const declarationsOf = async (out: string): Promise<string> => {
  for (const folder of ["", "src", "core/src", "packages/core/src"]) {
    if (await readFile(join(out, folder, "governor.d.ts")).then(() => true, () => false)) return folder
  }
  throw new Error("The compiler is expected to write governor.d.ts.")
}
