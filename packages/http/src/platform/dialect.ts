/** The dialect of document 2, for every path below `/v1`. Spec: document 2; platform section 2. */
import type { Plan } from "@flyball/contract"
import { encodeId } from "@flyball/evidence"
import { randomFillSync } from "node:crypto"
import type { Dialect } from "../dialect.ts"
import { dispatchPlatform } from "./dispatch.ts"
import { shown } from "./shown.ts"

/** Makes the dialect. `planOfPeople`: the plan of callers with a session. */
export const platformDialect = (planOfPeople: Plan): Dialect => ({
  serves: (url) => /^(?:https?:\/\/[^/?]*)?\/v1(?:[/?]|$)/i.test(url),
  // A caller's own id is not trusted: two requests of one id would be one in the log.
  requestId: () => encodeId("req_", randomFillSync(new Uint8Array(16))),
  dispatch: dispatchPlatform(planOfPeople),
  shown,
  headers: ({ headers }) => headers
})
