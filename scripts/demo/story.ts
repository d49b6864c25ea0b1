/** The demo's story: everything it does, step by step, and the figures it prints. */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { readTraceLine } from "../../apps/server/src/cli/import-trace/trace.ts"
import { type Analysed, analysed } from "./analysed.ts"
import { bound, type Bounded } from "./bounds.ts"
import { type Cut, cut, startModel } from "./cut.ts"
import { govern, type Governed, makeVoucher } from "./governance.ts"
import { type ModelChanged, modelChanged } from "./model-changed.ts"
import { type Paid, paid } from "./paid.ts"
import { type Planned, planned } from "./planned.ts"
import { type Platform, platform } from "./platform.ts"
import { replay, type Replayed } from "./replayed.ts"
import { reviewed, type Reviewed } from "./reviewed.ts"
import { startServer, verify } from "./server.ts"
import { type ToolsChanged, toolsChanged } from "./tools-changed.ts"
import { waited, type Waited } from "./waited.ts"
import { stopped, type Stopped } from "./stopped.ts"
import { tell, type Reported } from "./webhook-story.ts"

/** Figures that the page is written from. None of it depends on the day, the machine or the random keys. */
export interface Figures {
  readonly agents: ReadonlyArray<{ readonly name: string; readonly decisions: number }>
  readonly decisions: number
  readonly again: number
  readonly reported: Reported
  readonly governed: Governed
  readonly bounded: Bounded
  readonly halted: Stopped
  readonly approved: Reviewed
  readonly changed: ToolsChanged
  readonly other: ModelChanged
  readonly ran: Waited
  readonly cut: Cut
  readonly analysed: Analysed
  readonly paid: Paid
  readonly planned: Planned
  readonly replayed: Replayed
  readonly platform: Platform
  readonly records: number
  readonly erased: { readonly seq: number; readonly name: string }
  readonly full: Verified
  readonly sparse: Verified & { readonly agent: string }
  readonly tampered: Verified & {
    readonly changedSeq: number
    readonly findings: ReadonlyArray<{ readonly code: string; readonly seq: number | null }>
  }
  readonly check: string
}

interface Verified {
  readonly status: number
  readonly verdicts: {
    readonly integrity: string
    readonly authenticity: string
    readonly completeness: string
    readonly anchoring: string
  }
  readonly counts: {
    readonly records: number
    readonly parts_disclosed: number
    readonly parts_withheld: number
    readonly parts_erased: number
  }
}

const expectStatus = (what: string, found: number, expected: number, bytes?: Uint8Array): void => {
  if (found !== expected)
    throw new Error(
      `${what} answered ${found}, not ` +
        `${expected}${bytes === undefined ? "" : `: ${new TextDecoder().decode(bytes).slice(0, 500)}`}`
    )
}

const verified = async (file: string, vkey: string): Promise<Verified & { readonly report: any }> => {
  const result = await verify(file, "--vkey", vkey, "--json")
  const report = JSON.parse(result.stdout)
  return { status: result.status, verdicts: report.verdicts, counts: report.counts, report }
}

/** Changes one byte inside the record line with this seq, as someone with an editor would. */
export const changeOneByte = (pack: Uint8Array, seq: number): Uint8Array => {
  const changed = Uint8Array.from(pack)
  const text = new TextDecoder("latin1").decode(pack)
  const lineAt = text.split("\n").reduce<{ at: number; found: number }>(
    (state, line) => ({
      at: state.at + line.length + 1,
      found: state.found < 0 && line.startsWith("R ") && line.includes(`,"seq":${seq},`) ? state.at : state.found
    }),
    { at: 0, found: -1 }
  ).found
  const statusAt = text.indexOf(`"status":"ok"`, lineAt)
  changed[statusAt + `"status":"`.length] = "O".charCodeAt(0)
  return changed
}

/** Runs the whole story in `folder` and answers its figures. `say` gets each step. */
export const tellStory = async (folder: string, say: (sentence: string) => void): Promise<Figures> => {
  say("Starting a server on a fresh SQLite file …")
  const voucher = makeVoucher(folder)
  const stopModel = await startModel(folder)
  let server = await startServer(folder)
  try {
    const admin = (await server.flyball("token", "--role", "admin", "--sub", "demo")).stdout.trim()
    const minted = await server.call("POST", "/api/v1/admin/ingest-keys", admin, {
      name: "demo key",
      org_unit: "support"
    })
    expectStatus("minting a key", minted.status, 201, minted.bytes)
    const key: string = minted.json.key

    say("Registering the agents and witnessing their decisions …")
    const lines = readFileSync(fileURLToPath(new URL("../../fixtures/traces/starter.ndjson", import.meta.url)), "utf8")
      .trimEnd()
      .split("\n")
    const byAgent = new Map<string, Array<unknown>>()
    for (const line of lines) {
      const read = readTraceLine(JSON.parse(line))
      if (!read.ok) throw new Error(`a starter trace is not readable: expected ${read.expected}`)
      const list = byAgent.get(read.trace.agent) ?? []
      list.push(read.trace.decision)
      byAgent.set(read.trace.agent, list)
    }
    const agents: Array<{ name: string; id: string; decisions: number }> = []
    for (const [name, decisions] of byAgent) {
      const registered = await server.call("POST", "/api/v1/agents", key, { name, purpose: "demo" })
      expectStatus("registering an agent", registered.status, 201, registered.bytes)
      const witnessed = await server.call("POST", `/api/v1/agents/${registered.json.id}/decisions`, key, { decisions })
      expectStatus("witnessing", witnessed.status, 201, witnessed.bytes)
      agents.push({
        name,
        id: registered.json.id,
        decisions: witnessed.json.receipts.filter((receipt: { duplicate: boolean }) => !receipt.duplicate).length
      })
    }
    const [firstAgent] = agents
    const repeated = await server.call("POST", `/api/v1/agents/${firstAgent!.id}/decisions`, key, {
      decisions: byAgent.get(firstAgent!.name)
    })
    const again = repeated.json.receipts.filter((receipt: { duplicate: boolean }) => receipt.duplicate).length

    say("Telling a webhook whose receiver is away, while minutes pass …")
    const { reported, server: reportedServer } = await tell(folder, server, admin)
    server = reportedServer

    say("Checking a signed card, handing an agent over, and letting a week pass for another …")
    const { governed, server: later } = await govern(folder, server, admin, voucher, [agents[0]!, agents[1]!])
    server = later

    say("Erasing one part at its subject's request …")
    const records = await server.call("GET", `/api/v1/chain/records?kind=decision.witnessed&limit=1000`, admin)
    const target = records.json.find((record: { parts: ReadonlyArray<{ name: string }> }) =>
      record.parts.some((part) => part.name === "result")
    )
    const erased = { seq: target.seq as number, name: "result" }
    const erasure = await server.call("POST", "/api/v1/chain/erasures", admin, { ...erased, reason: "subject_request" })
    expectStatus("erasing", erasure.status, 201, erasure.bytes)

    say("Exporting and verifying evidence packs …")
    const exportPack = async (name: string, request: unknown): Promise<string> => {
      const requested = await server.call("POST", "/api/v1/evidence/packs", admin, request)
      expectStatus("requesting a pack", requested.status, 201, requested.bytes)
      const pack = await server.call("GET", `/api/v1/evidence/packs/${requested.json.id}`, admin)
      expectStatus("fetching a pack", pack.status, 200)
      const file = `${folder}/${name}`
      writeFileSync(file, pack.bytes)
      return file
    }
    const vkey = (await server.flyball("vkey")).stdout.trim()
    const fullFile = await exportPack("full.evp", { kind: "full", disclose: "all" })
    const full = await verified(fullFile, vkey)
    const sparse = await verified(
      await exportPack("sparse.evp", { kind: "sparse", agent_id: firstAgent!.id, disclose: "none" }),
      vkey
    )

    const changedSeq = Number(
      records.json.findLast((record: { body: { status: string } }) => record.body.status === "ok").seq
    )
    const tamperedFile = `${folder}/tampered.evp`
    writeFileSync(tamperedFile, changeOneByte(readFileSync(fullFile), changedSeq))
    const tampered = await verified(tamperedFile, vkey)
    const head = await server.call("GET", "/api/v1/chain/head", admin)

    say("Bounding an agent, and evaluating its tool calls …")
    const retail = agents.find(({ name }) => name.includes("retail"))!
    const calls = byAgent
      .get(retail.name)!
      .filter((decision) => (decision as { readonly kind: string }).kind === "tool_call")
      .map((decision) => decision as { readonly action: string; readonly args: unknown; readonly client_ref: string })
      .map(({ action, args, client_ref }) => ({ action, args, ref: client_ref }))
    const bounded = await bound({ agent: retail, calls, key, server })

    say("Halting it when its tool fails, and letting it go on …")
    const halted = await stopped({ agent: retail, key, server })

    say("Sending one of its calls to a person who approves it …")
    const approved = await reviewed({ agent: retail, call: bounded.toReview.at(-1)!, key, server })

    say("Changing the tools of a server that it uses …")
    const changed = await toolsChanged({ admin, agent: retail, key, server })

    say("Giving another one another model, and comparing …")
    const other = await modelChanged(folder, { admin, agent: firstAgent!, key, server })

    say("Killing the server while a workflow waits for a person …")
    const flow = await waited(folder, { admin, agent: retail, server })
    server = flow.server

    say("Halting it while a model answers it …")
    const halfway = await cut({ admin, agent: retail, server })

    say("Analysing a known data set for fairness …")
    const fair = await analysed(`${folder}/fairness.html`, { admin, server })

    say("Reading an invoice, and paying what it says …")
    const billed = await paid({ admin, key, server })

    say("Planning deliveries …")
    const routes = await planned(`${folder}/routes.svg`, { admin, server })

    say("Making every verdict again …")
    const boundedFile = await exportPack("bounded.evp", { kind: "full", disclose: "all" })
    const replayed = await replay({ answer: other.answer, denied: bounded.denied, file: boundedFile, folder, vkey })

    say("Meeting the limits of the platform API, and killing the server …")
    const { met, server: last } = await platform(folder, { admin, server })
    server = last
    const check = await server.flyball("check")
    expectStatus("flyball check", check.status, 0)
    return {
      agents: agents.map(({ decisions, name }) => ({ name, decisions })),
      decisions: agents.reduce((sum, agent) => sum + agent.decisions, 0),
      again,
      reported,
      governed,
      bounded,
      halted,
      approved,
      changed,
      other,
      ran: flow.waited,
      cut: halfway,
      analysed: fair,
      paid: billed,
      planned: routes,
      replayed,
      platform: met,
      records: head.json.tree_size,
      erased,
      full,
      sparse: { ...sparse, agent: firstAgent!.name },
      tampered: {
        ...tampered,
        changedSeq,
        findings: tampered.report.findings.map((finding: { code: string; seq: number | null }) => ({
          code: finding.code,
          seq: finding.seq
        }))
      },
      check: check.stdout.trim()
    }
  } finally {
    await server.stop()
    await stopModel()
  }
}
