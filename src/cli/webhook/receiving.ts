// Defaults of receiving: the port, and the header of the signature.
import type { Settings } from '../../store/profile/settings.js';
import { signatureHeader } from '../../webhooks/sign.js';

export const defaultListenPort = 4712;
export const defaultListenUrl = `http://127.0.0.1:${defaultListenPort}`;

/** The setting, or else the header with the maker's name. */
export const headerOf = (settings: Pick<Settings, 'signatureHeader' | 'maker'>): string =>
  settings.signatureHeader ?? signatureHeader(settings.maker);
