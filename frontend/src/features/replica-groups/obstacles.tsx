import { useTranslation } from 'react-i18next';
import { Notice } from '@/components/notice';

type ObstaclesProps = { replicas: { brokerId: string; obstacle: string | null }[] };

/** Why replicas do not follow their master, and what to do, as they say themselves. */
export function Obstacles({ replicas }: ObstaclesProps) {
  const { t } = useTranslation();
  return replicas.map(({ brokerId, obstacle }) =>
    obstacle === null ? null : (
      <Notice key={brokerId} tone="warn" title={t('replicas.obstacle', { id: brokerId })}>
        {obstacle}
      </Notice>
    ),
  );
}
