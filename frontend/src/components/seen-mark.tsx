import { useTranslation } from 'react-i18next';
import { formatAge } from '@/lib/format';
import type { Staleness } from '@/lib/staleness';
import { Advice } from './advice';
import { StateMark, type StateTone } from './state-mark';

type SeenMarkProps = { tone: StateTone; sentence: string; staleness: Staleness };

/** How things stand in a sentence; once that is old news, how they stood, and never good (D21). */
export function SeenMark({ tone, sentence, staleness }: SeenMarkProps) {
  const { t } = useTranslation();
  const { isStale, ageMs } = staleness;
  if (!isStale) return <StateMark tone={tone} label={<Advice>{sentence}</Advice>} wraps />;
  return (
    <StateMark
      tone={tone === 'good' ? 'unknown' : tone}
      label={<Advice>{t('state.lastSeen', { age: formatAge(ageMs), sentence })}</Advice>}
      wraps
    />
  );
}
