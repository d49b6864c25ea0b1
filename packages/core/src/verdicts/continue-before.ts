/** A page that read as much as it may, and found nothing to show. */
import { detailItem, InvalidInput } from "@flyball/contract"

/**
 * Refuses an empty page that would say that the list ends here, where it does not. The refusal names the position to
 * continue from (`ctx.before`).
 *
 * - `such`: what is listed, with its article.
 */
export const continueBefore = (
  such: string,
  read: number,
  { before = null, next }: { readonly before?: number | null | undefined; readonly next: number }
): InvalidInput =>
  new InvalidInput({
    detail: [
      detailItem(
        ["query", "before"],
        "value_error",
        `None of the ${read} records read is such ${such}; continue with before=${next}`,
        before,
        { before: next }
      )
    ]
  })
