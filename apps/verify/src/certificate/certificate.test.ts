import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { run } from "../run.ts"
import { type SampleRecord, samplePack, sampleVkey } from "../summary/sample-chain.ts"

const ID = `kil_${"0".repeat(25)}1`
const OTHER = `kil_${"0".repeat(25)}2`
const agent = `agt_${"0".repeat(25)}1`
const stranger = `agt_${"0".repeat(25)}2`
const folder = mkdtempSync(join(tmpdir(), "certificate-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A moment after 2026-11-21, where the sample chain begins. */
const at = (second: number): string => new Date(1_795_219_200_000 + second * 1_000).toISOString()

const activated = (more: object = {}): SampleRecord => ({
  kind: "kill.activated",
  body: {
    activated_at: at(2),
    activation_id: ID,
    epoch: 1,
    response: "halt",
    target_id: agent,
    target_type: "agent",
    writer: "system:operator",
    ...more
  },
  parts: {}
})
const expects = (...instances: ReadonlyArray<string>): SampleRecord => ({
  kind: "kill.expected",
  body: { activation_id: ID, expected: instances.length, writer: "system:kill" },
  parts: { expected: instances.map((instance_id) => ({ agent_id: agent, instance_id })) }
})
const acknowledged = (instance: string, second: number): SampleRecord => ({
  kind: "kill.acknowledged",
  body: {
    acknowledged_at: at(second),
    activation_id: ID,
    agent_id: agent,
    in_flight: 1,
    instance_id: instance,
    writer: "key_x"
  }
})
const stopped = (instance: string, second: number): SampleRecord => ({
  kind: "kill.stopped",
  body: { activation_id: ID, agent_id: agent, instance_id: instance, stopped_at: at(second), writer: "key_x" }
})
const decision = (instance: string, second: number, more: object = {}): SampleRecord => ({
  kind: "decision.witnessed",
  body: {
    action: "pay",
    agent_id: agent,
    instance_id: instance,
    observed_at: at(second),
    status: "ok",
    writer: "key_x",
    ...more
  }
})
const refused: SampleRecord = {
  kind: "evaluation.made",
  body: {
    activations: [{ epoch: 1, id: ID, response: "halt", via: "agent" }],
    agent_id: agent,
    instance_id: "pod-1",
    outcome: "halt"
  }
}
const released: SampleRecord = {
  kind: "kill.released",
  body: { activation_id: ID, epoch: 2, released_at: at(60), writer: "usr_x" }
}

const story: ReadonlyArray<SampleRecord> = [
  decision("pod-1", 1),
  activated(),
  expects("pod-1", "pod-2"),
  decision("pod-1", 3),
  decision("pod-9", 3, { agent_id: stranger }),
  acknowledged("pod-1", 4),
  { kind: "kill.stopped", body: { activation_id: ID, agent_id: agent, instance_id: "pod-1", stopped_at: at(5) } },
  decision("pod-1", 40, { status: "denied" }),
  refused,
  { ...refused, body: { ...refused.body, outcome: "allow" } },
  { ...refused, body: { ...refused.body, activations: [{ epoch: 9, id: OTHER, response: "halt", via: "agent" }] } }
]

const say = async (records: ReadonlyArray<SampleRecord>): Promise<string> => {
  const file = join(folder, `${Math.random()}.evp`)
  writeFileSync(file, await samplePack(records))
  let out = ""
  await run([file, "--vkey", sampleVkey, "--certificate", ID], {
    out: async (text) => void (out += text),
    err: async () => undefined,
    nowMs: () => 0,
    isTerminal: false
  })
  return out.replaceAll(/\s+/g, " ")
}

const verify = async (
  records: ReadonlyArray<SampleRecord>,
  changed?: (pack: string) => string,
  id = ID
): Promise<{ readonly exit: number; readonly report: any }> => {
  const file = join(folder, `${Math.random()}.evp`)
  writeFileSync(file, await samplePack(records, changed))
  let out = ""
  const exit = await run([file, "--vkey", sampleVkey, "--certificate", id, "--json"], {
    out: async (text) => void (out += text),
    err: async () => undefined,
    nowMs: () => 0,
    isTerminal: false
  })
  return { exit, report: JSON.parse(out) }
}

describe("flyball-verify --certificate", () => {
  it("says who activated, acknowledged, stopped, acted last, was refused, and is silent", async () => {
    const { exit, report } = await verify([...story, released])
    assert.strictEqual(exit, 0)
    const { instances, ...rest } = report.certificate
    assert.deepStrictEqual(rest, {
      activation_id: ID,
      target: { type: "agent", id: agent },
      response: "halt",
      drill: null,
      breaker_id: null,
      epoch: 1,
      activated: { seq: 2, at: at(2), writer: "system:operator" },
      unlisted: 0,
      incomplete: [],
      requested: null,
      released: { seq: 12, at: at(60), writer: "usr_x", epoch: 2 },
      refusals: [{ seq: 9, at: at(9), agent_id: agent, instance_id: "pod-1", epoch: 1, outcome: "halt" }],
      refusal_count: 1,
      findings: [],
      silent: 1,
      bound_ms: 15_000,
      bound: "unknown"
    })
    assert.deepStrictEqual(instances, [
      {
        agent_id: agent,
        instance_id: "pod-1",
        expected: true,
        observed_at: null,
        acknowledged_at: at(4),
        in_flight: 1,
        stopped_at: at(5),
        last_side_effect: { seq: 4, at: at(3), action: "pay" },
        side_effects: 1,
        is_silent: false,
        bound: "met"
      },
      {
        agent_id: agent,
        instance_id: "pod-2",
        expected: true,
        observed_at: null,
        acknowledged_at: null,
        in_flight: null,
        stopped_at: null,
        last_side_effect: null,
        side_effects: 0,
        is_silent: true,
        bound: "unknown"
      }
    ])
  })

  it("says it in sentences", async () => {
    const said = await say([...story, released])
    assert.include(
      said,
      `Certificate halt of agent ${agent}, by system:operator at ${at(2)}, epoch 1. 2 instances: 1 acknowledged, ` +
        `1 stopped, 1 silent. 1 refusals. Released by usr_x at ${at(60)}. It is unknown whether every instance ` +
        `stopped within 15 s.`
    )
    assert.include(
      said,
      `Instances under the activation: 2 - pod-1 of ${agent}: acknowledged ${at(4)}, stopped ${at(5)}, last side ` +
        `effect ${at(3)} (record 4) - pod-2 of ${agent}: acknowledged never, stopped unconfirmed, last side effect none`
    )
  })

  it("finds the bound met where all stopped in time, and missed by one later side effect", async () => {
    const bound = async (...more: ReadonlyArray<SampleRecord>) =>
      (await verify([...story, ...more])).report.certificate.bound
    assert.strictEqual(await bound(acknowledged("pod-2", 4)), "unknown")
    assert.strictEqual(await bound(acknowledged("pod-2", 4), stopped("pod-2", 17)), "met")
    assert.strictEqual(await bound(acknowledged("pod-2", 4), stopped("pod-2", 17.001)), "unknown")
    assert.strictEqual(await bound(acknowledged("pod-2", 4), decision("pod-2", 17), stopped("pod-2", 17)), "met")
    assert.strictEqual(await bound(acknowledged("pod-2", 4), decision("pod-2", 17.001)), "missed")
    assert.strictEqual(
      await bound(acknowledged("pod-2", 4), stopped("pod-2", 5), released, decision("pod-2", 70)),
      "met"
    )
    const shadow = { drill: { drill_id: "drl_x", mode: "shadow" } }
    assert.strictEqual((await verify([activated(shadow)])).report.certificate.bound, "none")
  })

  it("is unknown, and status 2, where an instance acted after it had reported its stop", async () => {
    const records = [...story, acknowledged("pod-2", 4), stopped("pod-2", 6), decision("pod-2", 8)]
    const { exit, report } = await verify(records)
    assert.deepStrictEqual(report.certificate.findings, [
      {
        code: "acted_after_stop",
        agent_id: agent,
        instance_id: "pod-2",
        stopped_at: at(6),
        seq: 14,
        at: at(8),
        action: "pay"
      }
    ])
    assert.deepStrictEqual([exit, report.certificate.bound], [2, "unknown"])
    assert.notInclude(JSON.stringify(report.not_checked), "pod-2")
    assert.include(
      await say(records),
      `Findings of the certificate: 1 - acted_after_stop: pod-2 of ${agent} reported at ${at(6)} that it had ` +
        `stopped, and acted at ${at(8)} (record 14).`
    )
  })

  it("takes the expected instances from a record of their own, and is unknown without any", async () => {
    const bare = activated()
    const stop = [acknowledged("pod-1", 4), stopped("pod-1", 5)]
    const found = async (...records: ReadonlyArray<SampleRecord>) => {
      const { exit, report } = await verify(records)
      return [exit, report.certificate.bound, report.certificate.incomplete.length]
    }
    assert.deepStrictEqual(await found(bare, expects("pod-1"), ...stop), [0, "met", 0])
    assert.deepStrictEqual(await found(bare, ...stop, released, expects("pod-1")), [0, "met", 0])
    assert.deepStrictEqual(await found(bare, expects("pod-1", "pod-2"), ...stop), [0, "unknown", 0])
    assert.deepStrictEqual(await found(bare, ...stop), [2, "unknown", 1])
    assert.deepStrictEqual(await found(bare, expects(), ...stop), [0, "unknown", 0])
  })

  it("is not made from a pack without the activation, and incomplete without its instances: status 2", async () => {
    const other = await verify(story, undefined, OTHER)
    assert.deepEqual([other.exit, other.report.certificate], [2, null])
    assert.strictEqual(
      other.report.not_checked[0],
      `No certificate was made: no record of this pack activates ${OTHER}.`
    )
    const hidden = await verify([activated(), { ...expects("pod-1"), parts: { expected: null } }])
    assert.strictEqual(hidden.exit, 2)
    assert.deepEqual(hidden.report.certificate.incomplete, [
      "The pack does not disclose the part expected: which instances are silent is unknown."
    ])
    assert.strictEqual(hidden.report.certificate.bound, "unknown")
  })

  it("is not made from a pack that was changed: status 1", async () => {
    const { exit, report } = await verify([...story, released], (pack) => pack.replace(at(5), at(3)))
    assert.deepEqual([exit, report.certificate], [1, null])
    assert.include(report.not_checked, "No certificate was made: the records are not what the pack claims.")
  })
})
