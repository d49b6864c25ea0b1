/** The dialect of document 2, for every path below `/v1`. Spec: document 2; platform section 2. */
import { encodeId } from "@flyball/evidence"
import { randomFillSync } from "node:crypto"
import type { Dialect } from "../dialect.ts"
import { dispatchPlatform, type PlatformOptions } from "./dispatch.ts"
import { shown } from "./shown.ts"

/** Makes the dialect. */
export const platformDialect = (options: PlatformOptions): Dialect => ({
  serves: (url) => /^(?:https?:\/\/[^/?]*)?\/v1(?:[/?]|$)/i.test(url),
  // A caller's own id is not trusted: two requests of one id would be one in the log.
  requestId: () => encodeId("req_", randomFillSync(new Uint8Array(16))),
  dispatch: dispatchPlatform(options),
  shown,
  headers: ({ headers }) => headers
})
