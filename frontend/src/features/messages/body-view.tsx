import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Notice } from '@/components/notice';
import type { BodyForm, MessageBodyQuery } from '@/gql/operations';
import { formatBytes } from '@/lib/format';
import classes from './body-view.module.css';

type BodyViewProps = {
  body: NonNullable<MessageBodyQuery['messageBody']>;
  onForm: (form: BodyForm) => void;
};

const forms = ['JSON', 'TEXT', 'HEX'] as const;

/** A body as text, JSON or hex; what is left out, or could not be shown so, is said. */
export function BodyView({ body, onForm }: BodyViewProps) {
  const { t } = useTranslation();
  const size = formatBytes(body.sizeBytes ?? body.storedBytes);
  const shown = formatBytes(body.shownBytes);
  const cut = body.isCut ? t('body.cut', { shown, size }) : t('body.whole', { size });
  const packed = body.compression ? t('body.compressed', { how: body.compression }) : '';
  return (
    <div className={classes.body}>
      <div className={classes.head}>
        <SegmentedControl<BodyForm>
          aria-label={t('body.form')}
          value={body.form}
          onChange={onForm}
          data={forms.map((value) => ({ value, label: t(`body.as.${value}`) }))}
        />
        <span>
          {cut} {packed}
        </span>
      </div>
      {body.note ? <Notice tone="info" title={body.note} /> : null}
      {body.content === '' ? (
        <p className={classes.empty}>{t('body.empty')}</p>
      ) : (
        <section
          className={classes.content}
          aria-label={t('body.content')}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
        >
          <pre>{body.content}</pre>
        </section>
      )}
    </div>
  );
}
