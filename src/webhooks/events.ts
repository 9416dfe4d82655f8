// The payload of a webhook delivery (specification: Events), read tolerantly: unknown fields are kept.
import * as v from 'valibot';

const payloadSchema = v.looseObject({
  txnId: v.pipe(v.string(), v.nonEmpty()),
  extRefId: v.optional(v.nullable(v.string())),
  txnState: v.pipe(v.string(), v.nonEmpty()),
  msg: v.optional(v.nullable(v.string())),
  /** Epoch ms. */
  updatedAt: v.pipe(v.number(), v.safeInteger()),
});

export type WebhookPayload = v.InferOutput<typeof payloadSchema>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Undefined when the body is not the payload of the specification. */
export function readPayload(body: Uint8Array): WebhookPayload | undefined {
  const read = v.safeParse(payloadSchema, parse(body));
  return read.success ? read.output : undefined;
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}
