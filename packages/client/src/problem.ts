/** Problems of the client, for the host's log. None is thrown. */

/**
 * A problem that the client reports to `onProblem`. `reduced`: the server refused an entry, and took it without its
 * parts. `rejected`: it refused that too, and the entry counts in a gap `refused`.
 */
export type Problem =
  | { readonly kind: "envelopes" | "kill_status" | "kill_stream" | "kill_ack"; readonly reason: string }
  | { readonly kind: "capture"; readonly reason: string; readonly pending: number }
  | {
      readonly kind: "reduced" | "rejected"
      readonly status: number
      readonly clientRef: string
      readonly answer: unknown
    }
  | { readonly kind: "lost"; readonly reason: "spool_full" | "closed"; readonly count: number }
  | { readonly kind: "spool"; readonly reason: string }
