import { CloseButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Notice } from './notice';

type IgnoredNoticeProps = {
  /** What stands in the address and makes no sense to the page. */
  ignored: readonly { name: string; value: string; reason: 'name' | 'value' }[];
  onDismiss?: () => void;
};

/** Says which parts of the address have no effect, so that nobody takes the list for a narrowed one. */
export function IgnoredNotice({ ignored, onDismiss }: IgnoredNoticeProps) {
  const { t } = useTranslation();
  if (ignored.length === 0) return null;
  return (
    <Notice
      tone="info"
      title={t('ignored.title')}
      action={
        onDismiss ? (
          <CloseButton size="sm" aria-label={t('word.close')} onClick={onDismiss} />
        ) : undefined
      }
    >
      {ignored.map(({ name, value, reason }) => (
        <div key={name}>{t(`ignored.${reason}`, { name, value })}</div>
      ))}
    </Notice>
  );
}
