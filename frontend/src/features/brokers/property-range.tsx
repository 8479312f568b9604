import { useTranslation } from 'react-i18next';
import { formatInt64 } from '@/lib/format';
import type { Property } from './broker';

/** A highest value that is only what a number of 64 bits can hold is no limit that helps. */
const int64Max = '9223372036854775807';

/** What a setting may be, as its broker describes it. */
export function PropertyRange({ property: { type, low, high, choices } }: { property: Property }) {
  const { t } = useTranslation();
  if (type === 'CHOICE') return choices.join(', ');
  if (low === null || high === null) return t(`propertyType.${type}`);
  const range = { low: formatInt64(low), high: formatInt64(high) };
  if (high === int64Max) {
    return t(type === 'BYTES' ? 'settings.bytesFrom' : 'settings.integerFrom', range);
  }
  return t(type === 'BYTES' ? 'settings.bytesRange' : 'settings.integerRange', range);
}
