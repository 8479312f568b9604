import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ApiError, isForbidden } from '@/lib/api-error';
import { sentence } from '@/lib/words';
import { Notice } from './notice';

type ErrorNoticeProps = { error: Error; onRetry: () => void };

/** What went wrong, its code, and the next thing to do about it. */
export function ErrorNotice({ error, onRetry }: ErrorNoticeProps) {
  const { t } = useTranslation();
  const code = error instanceof ApiError ? error.code : 'internal';
  return (
    <Notice
      tone="bad"
      title={t(`error.${code}.title`, { defaultValue: t('error.internal.title') })}
      action={
        // What is not allowed stays so, however often it is tried.
        isForbidden(error) ? undefined : (
          <Button variant="default" onClick={onRetry}>
            {t('error.retry')}
          </Button>
        )
      }
    >
      {sentence(error.message)}{' '}
      {t(`error.${code}.next`, { defaultValue: t('error.internal.next') })} <code>{code}</code>
    </Notice>
  );
}
