import { useTranslation } from 'react-i18next';
import { SeenMark } from '@/components/seen-mark';
import type { StateTone } from '@/components/state-mark';
import type { HealthQuery, HealthVerdict } from '@/gql/operations';
import type { Staleness } from '@/lib/staleness';

type HealthSentenceProps = { health: HealthQuery['health']; staleness: Staleness };

const tones: Record<HealthVerdict, StateTone> = {
  HEALTHY: 'good',
  DEGRADED: 'warn',
  CRITICAL: 'bad',
  UNKNOWN: 'unknown',
};

/** The state of the cluster in the control plane's own sentence, and what a failure would cost. */
export function HealthSentence({ health, staleness }: HealthSentenceProps) {
  const { t } = useTranslation();
  const { verdict, sentence, nextFailure, groupCount } = health;
  if (groupCount === 0) {
    return <SeenMark tone="unknown" sentence={t('health.empty')} staleness={staleness} />;
  }
  const text = verdict === 'HEALTHY' && nextFailure ? `${sentence} ${nextFailure}` : sentence;
  return <SeenMark tone={tones[verdict]} sentence={text} staleness={staleness} />;
}
