import { assert, describe, it } from "vitest"
import { memoryStorage } from "../storage/memory/memory.ts"
import { type Governor, openGovernor } from "./governor.ts"

const valueOf = async (governor: Governor, name: string, outcome?: string): Promise<number | undefined> => {
  const found = (await governor.metrics()).find((family) => family.name === name)
  const sample = found?.samples.find(({ labels }) => outcome === undefined || labels["outcome"] === outcome)
  return sample === undefined ? undefined : "value" in sample ? sample.value : sample.count
}

describe("metrics of a governor", () => {
  it("count commits, records, evaluations, gaps and checkpoints", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const before = (await valueOf(governor, "flyball_records_sealed_total"))!
    const { agent } = await governor.agents.register({ name: "a", org_unit: "ops" })
    assert.strictEqual(await valueOf(governor, "flyball_records_sealed_total"), before + 1)
    await governor.captureGap(agent.id, {
      from: "2026-01-01T00:00:00Z",
      to: "2026-01-01T00:01:00Z",
      count: 7,
      reason: "crash"
    })
    assert.strictEqual(await valueOf(governor, "flyball_capture_gaps_total"), 1)
    await governor.evaluate({ agent_id: agent.id, client_ref: "a", signals: {} })
    assert.strictEqual(await valueOf(governor, "flyball_evaluations_total", "deny"), 1)
    const signed = (await valueOf(governor, "flyball_checkpoints_total", "signed"))!
    await governor.checkpointNow()
    await governor.checkpointNow()
    assert.strictEqual(await valueOf(governor, "flyball_checkpoints_total", "signed"), signed + 1)
    const commits = (await valueOf(governor, "flyball_commits_total", "committed"))!
    assert.isAtLeast(commits, 4)
    assert.strictEqual(await valueOf(governor, "flyball_commit_duration_seconds"), commits)
  })

  it("are those of this governor alone", async () => {
    await using one = await openGovernor({ storage: memoryStorage() })
    await using other = await openGovernor({ storage: memoryStorage() })
    const before = await valueOf(other, "flyball_commits_total", "committed")
    await one.agents.register({ name: "a", org_unit: "ops" })
    assert.strictEqual(await valueOf(other, "flyball_commits_total", "committed"), before)
  })
})
