import { useTranslation } from 'react-i18next';
import { SeenMark } from '@/components/seen-mark';
import type { StateTone } from '@/components/state-mark';
import type { Staleness } from '@/lib/staleness';

type HealthSentenceProps = {
  groupCount: number;
  /** How many groups the cluster has; more than were read, where it has very many. */
  groupTotal: number;
  groupsWithoutMaster: string[];
  offlineCount: number;
  staleness: Staleness;
};

/** The state of the cluster in one sentence, the worst thing first. */
export function HealthSentence(props: HealthSentenceProps) {
  const { groupCount, groupTotal, groupsWithoutMaster, offlineCount, staleness } = props;
  const { t } = useTranslation();
  const mark = (tone: StateTone, sentence: string) => (
    <SeenMark tone={tone} sentence={sentence} staleness={staleness} />
  );
  if (groupCount === 0) return mark('unknown', t('health.empty'));
  if (groupsWithoutMaster.length > 0) {
    const names = groupsWithoutMaster.slice(0, 3).join(', ');
    return mark(
      'bad',
      t('health.masterless', { lost: groupsWithoutMaster.length, groupCount, names }),
    );
  }
  if (groupCount < groupTotal) {
    return mark('unknown', t('health.unread', { seen: groupCount, total: groupTotal }));
  }
  if (offlineCount > 0) return mark('warn', t('health.offline', { count: offlineCount }));
  return mark('good', t('health.good', { count: groupCount }));
}
