// The header that deliveries carry their signature in: as it was set, else as the maker's name makes it.
import type { Settings } from '../../store/profile/settings.js';
import { signatureHeader } from '../../webhooks/sign.js';

export const headerOf = (settings: Pick<Settings, 'signatureHeader' | 'maker'>): string =>
  settings.signatureHeader ?? signatureHeader(settings.maker);
