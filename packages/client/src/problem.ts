/** Problems of the client, for the host's log. None is thrown. */

/**
 * A problem that the client reports to `onProblem`. `rejected`: the server refused an entry, and it is not sent
 * again.
 */
export type Problem =
  | { readonly kind: "envelopes" | "kill_status" | "kill_stream" | "kill_ack"; readonly reason: string }
  | { readonly kind: "capture"; readonly reason: string; readonly pending: number }
  | {
      readonly kind: "rejected"
      readonly status: number
      readonly clientRef: string
      readonly answer: unknown
    }
  | { readonly kind: "lost"; readonly reason: "spool_full" | "closed"; readonly count: number }
  | { readonly kind: "spool"; readonly reason: string }
