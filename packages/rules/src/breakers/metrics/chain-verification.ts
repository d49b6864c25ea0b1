/** `chain_verification`: whether a check of the chain found a record that is not in order. */
import type { Metric } from "../metric.ts"

/** The metric. */
export const chainVerification: Metric = {
  name: "chain_verification",
  about:
    "The first invalid record that a check of this chain found, as `chain.verify_failed` reports it; `ok` " +
    "before. It halts the whole deployment, whatever response is set.",
  trips: "at the first one",
  params: {},
  kinds: [],
  isAbsence: true,
  isLocal: true,
  stopsDeployment: true,
  reachMs: () => 0,
  start: () => ({
    add: () => {},
    read: (_, { firstBadSeq }) => ({
      value: firstBadSeq === null ? "ok" : String(firstBadSeq),
      samples: firstBadSeq === null ? 0 : 1,
      tripped: firstBadSeq !== null,
      fromSeq: firstBadSeq,
      toSeq: firstBadSeq
    }),
    forget: () => {}
  })
}
