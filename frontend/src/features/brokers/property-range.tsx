import { useTranslation } from 'react-i18next';
import { formatInt64 } from '@/lib/format';
import type { Property } from './broker';

/** What a setting may be, as its broker describes it. */
export function PropertyRange({ property: { type, low, high, choices } }: { property: Property }) {
  const { t } = useTranslation();
  if (type === 'CHOICE') return choices.join(', ');
  if (low === null || high === null) return t(`propertyType.${type}`);
  const range = { low: formatInt64(low), high: formatInt64(high) };
  return t(type === 'BYTES' ? 'settings.bytesRange' : 'settings.integerRange', range);
}
