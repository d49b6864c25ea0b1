/** A process that runs the seeds it is sent, one after the other, and ends when nobody is there to send more. */
import type { SentResult } from "./run-seeds.ts"
import { simulate } from "./simulate.ts"

let last: Promise<void> = Promise.resolve()

process.on("message", (seed: number) => {
  last = last.then(async () => {
    const result = await simulate(seed)
    process.send!({ ...result, answers: [...result.answers] } satisfies SentResult)
  })
})
