import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Notice } from '@/components/notice';
import type { Standing } from './standing';

type OperationNoticeProps = {
  standing: Standing;
  /** What was last seen may not be so any more, so nothing is praised (D21). */
  isStale: boolean;
  action: ReactNode;
};

/** Where an operation stands in a sentence, and what to do next. */
export function OperationNotice({ standing, isStale, action }: OperationNoticeProps) {
  const { t } = useTranslation();
  const { word, tone, values } = standing;
  return (
    <Notice
      tone={isStale && tone === 'good' ? 'unknown' : tone}
      title={t(`standing.${word}.title`, values)}
      action={action}
      isTicking={word === 'held'}
    >
      {t(`standing.${word}.next`, values)}
    </Notice>
  );
}
