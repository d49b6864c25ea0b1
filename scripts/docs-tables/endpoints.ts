/** The table of endpoints, from the rows of the contract. */
import { endpoints } from "@flyball/contract/http"

/** One line per endpoint: who may call it, and the status of its success. */
export const endpointsTable = (): string =>
  [
    "| endpoint | who | success |",
    "|---|---|---|",
    ...endpoints.map(
      ({ access, method, path, success }) => `| ${method} \`${path}\` | ${access.name} | ${success.status} |`
    )
  ].join("\n")
