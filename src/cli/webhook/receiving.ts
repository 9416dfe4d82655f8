// How deliveries are taken on this machine unless it was told otherwise: where, and in which header their signature is.
import type { Settings } from '../../store/profile/settings.js';
import { signatureHeader } from '../../webhooks/sign.js';

export const defaultListenPort = 4712;
export const defaultListenUrl = `http://127.0.0.1:${defaultListenPort}`;

/** As it was set, else as the maker's name makes it. */
export const headerOf = (settings: Pick<Settings, 'signatureHeader' | 'maker'>): string =>
  settings.signatureHeader ?? signatureHeader(settings.maker);
