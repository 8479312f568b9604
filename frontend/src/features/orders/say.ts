import type { TFunction } from 'i18next';
import type { Words } from './field';

export function say(t: TFunction, words: Words): string {
  return 'text' in words ? words.text : t(words.key, words.values ?? {});
}
