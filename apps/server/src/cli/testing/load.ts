/** Agents that keep a server busy: decisions, and checkpoints as fast as it signs. */
import type { RunningServer } from "./commands.ts"

/** Result of the load. */
export interface LoadDone {
  /** Client references whose decision was acknowledged, in order, with their seq. */
  readonly acknowledged: ReadonlyArray<{ readonly clientRef: string; readonly seq: number }>
  /** How many checkpoints were signed for it. */
  readonly checkpoints: number
  /** Answers that were not 2xx, and calls that got none. */
  readonly failures: ReadonlyArray<string>
}

/** A load that runs until {@link Load.stop}. */
export interface Load {
  /** How many decisions were acknowledged so far. */
  readonly acknowledged: () => number
  readonly stop: () => Promise<LoadDone>
}

/**
 * Starts the load: one agent's decisions one after the other, and pack requests, each of which signs a checkpoint
 * first. `name` is the agent's.
 */
export const startLoad = async (server: RunningServer, name: string, token: string): Promise<Load> => {
  const call = async (path: string, body: unknown): Promise<unknown> => {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
    return JSON.parse(text)
  }
  const acknowledged: Array<{ clientRef: string; seq: number }> = []
  const failures: Array<string> = []
  let checkpoints = 0
  const stopping = new AbortController()
  const { id } = (await call("/agents", { name, org_unit: "support" })) as { readonly id: string }
  const until = async (step: () => Promise<void>): Promise<void> => {
    while (!stopping.signal.aborted) await step().catch((cause: unknown) => void failures.push(String(cause)))
  }
  const decide = async (): Promise<void> => {
    const clientRef = `${name}/${String(acknowledged.length).padStart(6, "0")}`
    const { receipts } = (await call(`/agents/${id}/decisions`, {
      client_ref: clientRef,
      action: "read",
      status: "ok",
      args: { text: clientRef.repeat(20) }
    })) as { readonly receipts: ReadonlyArray<{ readonly seq: number }> }
    acknowledged.push({ clientRef, seq: receipts[0]!.seq })
  }
  const sign = async (): Promise<void> => {
    await call("/evidence/packs", { kind: "full" })
    checkpoints += 1
  }
  const running = Promise.all([until(decide), until(sign)])
  return {
    acknowledged: () => acknowledged.length,
    stop: async () => {
      stopping.abort()
      await running
      return { acknowledged, checkpoints, failures }
    }
  }
}
