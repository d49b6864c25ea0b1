/** Labels beside which fields stand, in English, German, French and Dutch, with how sure each is. */

/** Kinds of values. */
export type ValueKind = "amount" | "date" | "id"

/** A label in a text. `field` null: it names something else, which is then none of the fields. */
export interface Label {
  readonly field: string | null
  readonly strength: number
  readonly from: number
  readonly to: number
}

const tax = "(?:vat|tax|gst|mwst|ust|u\\.?st|mehrwertsteuer|umsatzsteuer|btw|tva|iva|taxes|sales tax|m\\.w\\.st)"
const invoice = `(?:
  tax invoice|invoice|\\p{L}*rechnung|rechnungs|facture|factuur|bill|beleg|faktura|credit note|gutschrift|gutschrifts|
  avoir|creditnota|creditfactuur|document)`
/** A pattern of whole words; line ends in the source part nothing. */
const of = (source: string): RegExp =>
  new RegExp(`(?<!\\p{L})(?:${source.replace(/\n\s*/g, "")})(?:(?<!\\p{L})|(?!\\p{L}))`, "giu")

/** Words of labels by their field, `other` for none of the fields, and their strength. */
const rows: { readonly [kind in ValueKind]: { readonly [label: string]: string } } = {
  amount: {
    "opening_balance 95": `
        opening balance|balance brought forward|anfangssaldo|alter (?:konto)?(?:saldo|stand)|solde initial|ancien solde|
        solde précédent|beginsaldo|vorig saldo`,
    "closing_balance 95": `
        closing balance|ending balance|balance carried forward|endsaldo|neuer (?:konto)?(?:saldo|stand)|solde final|
        nouveau solde|eindsaldo|nieuw saldo`,
    "total 97": `
          grand total|invoice total|total invoice|gesamtbetrag|rechnungsbetrag|rechnungssumme|endbetrag|
          endsumme|gesamtsumme|bruttobetrag|brutto(?:summe|gesamt)|gesamt ?brutto|summe brutto|
          total (?:amount )?(?:incl?|inkl)\\.?(?:uding|usive)?(?: of)?(?: \\d+ ?%)?(?: ${tax})?|(?:summe|gesamt|
          gesamtbetrag|betrag) inkl\\.?(?: \\d+ ?%)?(?: ${tax})?|(?:total|montant|
          prix)(?: \\p{L}+)? t\\.?t\\.?c|total tvac|total toutes taxes comprises|factuur ?totaal|
          totaal ?(?:bedrag)? incl(?:usief|\\.)?(?: ${tax})?|totaalbedrag|factuurbedrag|eindtotaal|(?:total|
          gross) (?:gross|total)|gross amount|total general`,
    "total 93": `
          (?:total )?amount due(?: on)?|balance due|total due|due payable|amount payable|total payable|
          total amount(?: due on| due| payable)?|(?:zu )?zahlbetrag|zu zahlen(?:der betrag)?|zahlungsbetrag|
          überweisungsbetrag|fälliger betrag|offener betrag|(?:totaal )?te betalen|te voldoen|net à payer|
          somme à payer|(?:montant|total|reste) à payer|montant du prélèvement|please pay|forderungsbetrag|
          total to pay`,
    "total 62": `
          total|totaal|summe|gesamt|brutto|gesamtpreis|ttc|t\\.t\\.c|total facture|incl\\.? btw|total (?:eur|
          usd|gbp|chf)|incl\\.? vat|inkl\\.? mwst`,
    "net 95": `
          net total|total net|netto ?(?:betrag|summe|gesamt|wert)?|summe netto|gesamt ?netto|
          net(?:to)? am(?:oun|ou)t|total (?:amount )?(?:excl?|exkl)\\.?(?:uding|usive)?(?: of)?(?: ${tax})?|
          (?:total|montant|base)(?: \\p{L}+)? h\\.?t\\.?|total hors taxes?|montant hors taxes?|total htva|
          excl(?:usief|\\.)?(?: ${tax})|totaal excl(?:usief|\\.)?(?: ${tax})?|(?:summe|betrag|gesamt) (?:exkl|
          ohne|zzgl)\\.?(?: ${tax})?|taxable amount|tax basis|total before tax|ohne ${tax}|warenwert|grondslag|
          net amount|steuerpflichtiger betrag`,
    "net 72": "sub-? ?total|subtotaal|zwischensumme|sous-total|nett?|ht|h\\.t",
    "tax 92": `
          (?:total )?${tax}\\.? (?:total|amount|betrag|bedrag|gesamt)|(?:total|montant|summe|gesamt|
          totaal)(?: \\p{L}+)? ${tax}|steuerbetrag|mwst-?betrag|ust-?betrag|total tax(?:es)?|(?:zzgl|zuzügl|
          plus|add|\\+)\\.? ?(?:\\d+(?:[.,]\\d+)? ?%)? ?${tax}`,
    "tax 75": tax,
    "other 80": `
          unit price|einzelpreis|e-preis|stückpreis|prix unitaire|prijs(?: per stuk)?|price|preis|rabatt|
          discount|remise|korting|skonto|shipping|versand(?:kosten)?|rounding|cash|change|tendered|paid|gezahlt|
          betaald|payé|anzahlung|prepaid|deposit|acompte|credits?|rebate|balance forward|previous balance|
          vortrag|qty|menge|quantity|rate|tip`
  },
  date: {
    "date 97": `
          ${invoice}[- ]?(?:date|datum)|date (?:of|d['e’]|de la|de) ?(?:issue|invoice|facture|facturation|
          émission|la facture)|(?:issue|issued|bill|billing|receipt|belegs?)[- ]?(?:date|on|at)|
          ausstellungsdatum|datum der rechnung|date facture|issued(?: at| on)?|belegdatum|emission date|
          factuur ?datum|facturatiedatum`,
    "date 90": "(?:nr|no|n°|nummer)\\.?:? \\S+ (?:vom|von|du|van|dated)",
    "date 70": "date|datum|le|vom|du|dated|van|den",
    "due_date 96": `
          due(?: date)?|date due|payment due(?: date)?|due (?:on|by)|pay(?:able)? (?:by|until)|
          (?:please )?remit until|f[äa]llig(?:keit|keitsdatum)?(?: am| bis| zum)?|zahlbar bis(?: zum)?|
          zahlungsziel|(?:überweisen|zahlen)(?: sie)?(?: \\p{L}+)? bis(?: zum)?|bis(?: zum| spätestens)?|
          vervaldatum|uiterste betaaldatum|betalen v[oó]{2}r|(?:date )?(?:d['’])?échéance|
          date limite(?: de paiement)?(?: le)?|à payer avant(?: le)?|amount due on|prélèvement à partir du|
          valuta`,
    "other 90": `
          liefer(?:datum|ung|ungsdatum)?|leistungs(?:datum|zeitraum)|delivery(?: date)?|date of delivery|
          livraison|order(?: date|datum)?|bestell(?:datum|ung)|auftrags(?:datum|bestätigung)|commande|
          ship(?:ped|ping)?(?: date)?|period|periode|période|from|von|until|druckdatum|printed|geburtsdatum|
          birth|\\d{4} bis|verkauft|leveringsdatum|leverdatum|versanddatum|op|contract date`
  },
  id: {
    "invoice_number 97": `
          ${invoice}(?: \\(\\d+\\))?[- ]?(?:nummer|number|numéro|num|no|nr|n°|nº|id)\\b\\.?|
          ${invoice}\\s?(?:n°|nº|#|no\\.|nr\\.)|
          (?:numéro|n°|nº|nummer|number|no\\.?) (?:de |of |der )?(?:la )?${invoice}|${invoice}[- ](?:no|
          nr|ref(?:erence)?)`,
    "invoice_number 78": `${invoice}`,
    "invoice_number 45": "#|number|nummer|numéro|n°|nº|nr|no|reference|referenz|unser zeichen",
    "other 85": `
          (?:customer|client|kunden|klant|account|order|bestell|auftrags|commande|contract|vertrags|
          liefer(?:schein)?|delivery(?: note)?|po|p\\.o\\.|purchase order|project|projekt|tax|ust|vat|btw|tva|
          steuer|kvk|siren|siret|hr[ab]|telefon|tel|fon|phone|fax|mobile|konto|kto|blz|bic|swift|iban|page|
          seite|pagina|ligne|line|item|artikel|article|your|ihre?|votre|uw|user|member|meter|zähler|serie|
          serial|ordernummer|bestellung|order)[- ]?(?:nummer|number|numéro|num|no|nr|n°|nº|id|code|
          ref(?:erence)?|ident)?\\.?`
  }
}

const compiled = (kind: ValueKind) =>
  Object.entries(rows[kind]).map(([label, words]) => {
    const [field, strength] = label.split(" ") as [string, string]
    return [field === "other" ? null : field, Number(strength), of(words)] as const
  })
const patterns = { amount: compiled("amount"), date: compiled("date"), id: compiled("id") }

/** Labels of a kind of values in a text: where two overlap, the longer one. */
export const labelsIn = (text: string, kind: ValueKind): ReadonlyArray<Label> => {
  const found: Array<Label> = []
  for (const [field, strength, pattern] of patterns[kind]) {
    for (const match of text.matchAll(pattern)) {
      found.push({ field, strength, from: match.index, to: match.index + match[0].length })
    }
  }
  const kept: Array<Label> = []
  for (const label of found.sort((a, b) => b.to - b.from - (a.to - a.from) || b.strength - a.strength)) {
    if (kept.every(({ from, to }) => label.to <= from || label.from >= to)) kept.push(label)
  }
  return kept.sort((a, b) => a.from - b.from)
}
